import Foundation
import StrataModel
import StrataStore
import StrataSystem

/// One run: servers, processes, clients and faults, then the check of what was acknowledged.
struct Campaign {
    static let processCount = 3
    static let clientCount = 6
    static let sharedZone = "shared"
    /// The time after the last fault in which every process has to take writes again.
    static let quietSeconds = 12
    private static let openingMilliseconds = 120_000

    let folder: String
    let seed: UInt64
    let seconds: Int
    let tally: Tally
    /// The program of the servers; nil for a sequencer in a directory.
    var binary: String?
    /// The program of an earlier version, with which the servers begin; each is upgraded during the campaign.
    var earlierBinary: String?
    var serverCount = NATSCluster.usualCount
    var slots = 300
    /// True if the servers keep the assets too.
    var assetsInCluster = false
    var fault: InjectedFault?
    /// True if the sequencer forgets its last entries at the end.
    var forgets = false
    var quietSeconds = Campaign.quietSeconds

    init(in folder: String, seed: UInt64, seconds: Int, _ tally: Tally) {
        (self.folder, self.seed, self.seconds, self.tally) = (folder, seed, seconds, tally)
    }

    /// Runs it, and returns what the checker counted.
    func run() throws -> Checker.Counts {
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let cluster = try binary.map {
            try NATSCluster(
                serverCount, binary: $0, earlierBinary: earlierBinary, in: "\(folder)/servers",
                keepsAssets: assetsInCluster)
        }
        defer { cluster?.stop() }
        try cluster?.createStream()
        let history = try History(in: folder)
        try work(cluster, history)
        history.close()
        if forgets { try forgetEntries() }
        // A store that cannot be opened lost something.
        do { try copyAfresh(cluster) } catch { tally.violation("a copy cannot be brought up to date: \(error)") }
        cluster?.stop()
        var checker = Checker(folder, tally)
        tally.say("checking")
        do { try checker.run() } catch { tally.violation("the copies cannot be checked: \(error)") }
        return checker.counts
    }

    private func place(_ cluster: NATSCluster?, _ name: String) throws -> (links: [Link], place: String) {
        try cluster?.access(for: name) ?? ([], "\(folder)/sequence")
    }

    // MARK: The work

    private func work(_ cluster: NATSCluster?, _ history: History) throws {
        let clients = Lock<[Client]>([])
        let places = try (0..<Self.processCount).map { try place(cluster, "p\($0)") }
        let processes = places.enumerated().map { index, access in
            StoreProcess(
                index, (access.place, "\(folder)/files", Checker.copy(index, in: folder)), fault: fault, history, tally
            ) { number, text in
                clients.withLock { $0[number % Self.clientCount] }.deliver(number, text)
            }
        }
        let made = (0..<Self.clientCount).map { index in
            Client(index, slots: slots, seed: seed, hasPhotos: true, processes, tally)
        }
        clients.withLock { $0 = made }
        let processThreads = try processes.map { process in try WorkerThread(name: "process") { process.run() } }
        let opening = Monitor(false)
        let start = ContinuousClock.now
        while !processes.allSatisfy(\.isReady), start.duration(to: .now) < .milliseconds(Self.openingMilliseconds) {
            opening.wait(milliseconds: 10) { $0 ? () : nil }
        }
        let clientThreads = try made.map { client in try WorkerThread(name: "client") { client.run() } }
        tally.startClock()
        rest(seconds: 1)
        let schedule = FaultSchedule(
            seed: seed, cluster, processes, links: places.flatMap(\.links), history, tally)
        if earlierBinary != nil { schedule.planUpgrades(within: seconds) }
        schedule.run(milliseconds: seconds * 1_000)
        history.note(["! over"])
        observeRecovery(of: processes)
        history.note(["! quiet"])
        tally.stopClock()
        for client in made { client.finish() }
        for thread in clientThreads { thread.join() }
        for process in processes { process.finish() }
        for thread in processThreads { thread.join() }
    }

    /// Lets the quiet time pass, and notes when each process had acknowledged something that it was asked in it.
    private func observeRecovery(of processes: [StoreProcess]) {
        let end = ContinuousClock.now + .seconds(quietSeconds)
        let start = ContinuousClock.now
        for process in processes { process.beginQuietTime() }
        for process in processes { process.awaitAcknowledgement(until: end) }
        tally.noteRecovery(start.duration(to: .now))
        let left = max(.zero, ContinuousClock.now.duration(to: end))
        usleep(UInt32(left / .microseconds(1)))
    }

    private func rest(seconds: Int) {
        // The campaign is made of time: nothing is waited for.
        usleep(UInt32(seconds) * 1_000_000)
    }

    // MARK: The end

    /// Brings all copies up to date, and makes one that was never there.
    private func copyAfresh(_ cluster: NATSCluster?) throws {
        for index in 0..<Checker.copyCount {
            let place = try place(cluster, "check\(index)").place
            let store = try Store.open(
                at: Checker.copy(index, in: folder),
                options: StoreWorker.options(place: place, files: "\(folder)/files"))
            try store.confirm()
            // The servers are gone when the copies are checked.
            if assetsInCluster {
                let report = try store.checkCluster(fetches: true, removesUnused: false)
                for hash in report.problems { tally.violation("the cluster has lost asset \(hash)") }
                tally.say("copy \(index) has \(report.assetCount) assets; \(report.unusedCount) are unused")
            }
            try store.close()
        }
    }

    /// Removes the last entries of a sequencer in a directory.
    private func forgetEntries() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/sequence")
        guard let last = folders.filter({ $0.count == 20 }).max() else { return }
        let entries = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/sequence/\(last)").sorted()
        for name in entries.suffix(2) {
            try FileManager.default.removeItem(atPath: "\(folder)/sequence/\(last)/\(name)")
        }
    }
}
