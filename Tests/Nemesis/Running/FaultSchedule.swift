import Foundation
import StrataSystem
import TestSupport

/// Chooses faults by a seed, begins them, and ends each after its time.
final class FaultSchedule {
    private struct Active {
        let target: String
        let end: ContinuousClock.Instant
        /// True if servers or the connections between them are concerned.
        let concernsServers: Bool
        let undo: () -> Void
    }

    private var generator: SeededGenerator
    private let cluster: NATSCluster?
    private let processes: [StoreProcess]
    private let links: [Link]
    private let history: History
    private let tally: Tally
    private var active: [Active] = []
    private var nextHeavy: ContinuousClock.Instant
    /// The servers that are still to be upgraded, the last one first, and when.
    private var upgrades: [(time: ContinuousClock.Instant, server: Int)] = []

    /// The pause between two faults.
    private static let pauseMilliseconds = 40..<260
    /// The time of most faults, and of one in ten.
    private static let usualMilliseconds = 20..<400
    private static let longMilliseconds = 400..<3_000
    /// The pause after a fault that costs an election.
    private static let heavyMilliseconds = 9_000..<22_000
    private static let catchUp = Duration.seconds(60)

    init(
        seed: UInt64, _ cluster: NATSCluster?, _ processes: [StoreProcess], links: [Link],
        _ history: History, _ tally: Tally
    ) {
        generator = SeededGenerator(seed: seed)
        (self.cluster, self.processes, self.links) = (cluster, processes, links)
        (self.history, self.tally) = (history, tally)
        nextHeavy = .now + .seconds(3)
    }

    /// Upgrades one server after the other in the next `seconds`, with as long before, between and after them.
    func planUpgrades(within seconds: Int) {
        let count = cluster?.count ?? 0
        upgrades = (0..<count).shuffled(using: &generator).enumerated().map { index, server in
            (.now + .seconds(seconds) * (count - index) / (count + 1), server)
        }
    }

    func run(milliseconds: Int) {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        var next = ContinuousClock.now
        while ContinuousClock.now < end {
            undo { $0.end <= .now }
            if ContinuousClock.now >= next {
                begin()
                next = .now + .milliseconds(random(Self.pauseMilliseconds))
            }
            let wake = min(active.map(\.end).min() ?? end, next, end)
            let microseconds = max(1_000, ContinuousClock.now.duration(to: wake) / .microseconds(1))
            usleep(UInt32(min(microseconds, 100_000)))
        }
        undo { _ in true }
        if !upgrades.isEmpty { tally.violation("\(upgrades.count) servers were not upgraded") }
    }

    private func random(_ range: Range<Int>) -> Int { range.lowerBound + generator.next(below: range.count) }

    private var usualTime: Int {
        random(generator.next(below: 10) == 0 ? Self.longMilliseconds : Self.usualMilliseconds)
    }

    private func choose<Element>(_ list: [Element]) -> Element { list[generator.next(below: list.count)] }

    // MARK: Beginning and ending

    private func isFree(_ target: String) -> Bool { !active.contains { $0.target == target } }

    /// Begins a fault unless its target has one.
    private func begin(
        _ kind: String, _ target: String, milliseconds: Int, concernsServers: Bool = false, _ start: () -> Void,
        undo: @escaping () -> Void = {}
    ) {
        guard isFree(target) else { return }
        history.note(["! \(milliseconds) \(target) \(kind)"])
        start()
        active.append(
            Active(
                target: target, end: .now + .milliseconds(milliseconds), concernsServers: concernsServers, undo: undo))
    }

    private func undo(_ isDue: (Active) -> Bool) {
        for fault in active where isDue(fault) { fault.undo() }
        active.removeAll(where: isDue)
    }

    private func begin() {
        guard let cluster else { return beginProcessFault() }
        if let (time, server) = upgrades.last, ContinuousClock.now >= time {
            upgrades.removeLast()
            // A fault that starts servers at its end must not start this one a second time.
            undo { $0.concernsServers }
            cluster.upgrade(server)
            return killServers(cluster, "server upgraded", [server])
        }
        if ContinuousClock.now >= nextHeavy {
            nextHeavy = .now + .milliseconds(random(Self.heavyMilliseconds))
            return beginHeavy(cluster)
        }
        switch generator.next(below: 100) {
        case 0..<50: beginLinkFault("client link", choose(links), concernsServers: false)
        case 50..<75: beginLinkFault("route", choose(cluster.routes).link, concernsServers: true)
        case 75..<88: beginProcessFault()
        default: pauseServer(cluster, milliseconds: usualTime)
        }
    }

    // MARK: Faults

    private func beginProcessFault() {
        let process = choose(processes)
        let name = "p\(process.index)"
        if generator.next(below: 4) == 0 {
            // One that is still opening the store, too.
            guard process.isRunning else { return }
            let pause = random(0..<500)
            begin("process killed", name, milliseconds: pause) { process.kill(restartMilliseconds: pause) }
        } else {
            begin("process paused", name, milliseconds: random(50..<2_000)) {
                process.signal(SIGSTOP)
            } undo: {
                process.signal(SIGCONT)
            }
        }
    }

    private func beginLinkFault(_ kind: String, _ link: Link, concernsServers: Bool) {
        func begin(_ what: String, _ milliseconds: Int, _ start: () -> Void, undo: @escaping () -> Void = {}) {
            self.begin(
                "\(kind) \(what)", link.name, milliseconds: milliseconds, concernsServers: concernsServers, start,
                undo: undo)
        }
        switch generator.next(below: 16) {
        case 0..<5:
            let direction = choose(Link.Direction.allCases)
            begin("cut one way", usualTime) {
                link.set(.held, [direction])
            } undo: {
                link.set(.open)
            }
        case 5..<9:
            begin("cut both ways", usualTime) {
                link.set(.held)
            } undo: {
                link.set(.open)
            }
        case 9..<12:
            let delay = random(1..<20)
            begin("delayed", random(200..<2_000)) {
                link.set(.delayed(milliseconds: delay))
            } undo: {
                link.set(.open)
            }
        case 12..<15: begin("reset", 1) { link.reset() }
        default:
            guard isFree(link.name) else { return }
            let halved = link.halve(choose(Link.Direction.allCases))
            begin("half-open", random(500..<5_000)) {
            } undo: {
                for connection in halved { connection.end() }
            }
        }
    }

    private func pauseServer(_ cluster: NATSCluster, milliseconds: Int) {
        let server = generator.next(below: cluster.count)
        begin("server paused", "n\(server)", milliseconds: milliseconds, concernsServers: true) {
            cluster.signal(server, SIGSTOP)
        } undo: {
            cluster.signal(server, SIGCONT)
        }
    }

    private func beginHeavy(_ cluster: NATSCluster) {
        switch generator.next(below: 10) {
        case 0..<3: killServers(cluster, "server killed", [generator.next(below: cluster.count)])
        case 3: killServers(cluster, "all servers killed", Array(0..<cluster.count))
        case 4: pauseServer(cluster, milliseconds: random(3_000..<7_000))
        case 5, 6:
            begin("leader steps down", "leader", milliseconds: 1) { _ = cluster.stepDown() }
        case 7, 8: isolateServer(cluster)
        default: wipeServer(cluster)
        }
    }

    private func killServers(_ cluster: NATSCluster, _ kind: String, _ servers: [Int]) {
        // Every disk is as it was.
        undo { fault in servers.contains { fault.target == "n\($0)" } }
        let pause = random(100..<2_000)
        for server in servers { cluster.kill(server) }
        begin(kind, "n\(servers[0])", milliseconds: pause, concernsServers: true) {
        } undo: { [tally] in
            for server in servers {
                do { try cluster.start(server) } catch { tally.violation("a server does not start: \(error)") }
            }
        }
    }

    private func isolateServer(_ cluster: NATSCluster) {
        let server = generator.next(below: cluster.count)
        let links = cluster.routes.filter { $0.one == server || $0.other == server }.map(\.link)
        undo { fault in links.contains { $0.name == fault.target } }
        begin("server cut off", "n\(server)-others", milliseconds: random(1_000..<6_000), concernsServers: true) {
            for link in links { link.set(.held) }
        } undo: {
            for link in links { link.set(.open) }
        }
    }

    /// Empties the disk of a server that does not lead, while the other two have everything; then waits until it has
    /// everything again, because another fault of a server would be more than a minority.
    private func wipeServer(_ cluster: NATSCluster) {
        undo { $0.concernsServers }
        guard waitUntilComplete(cluster), let leaders = cluster.standing?.leaders else { return }
        let followers = (0..<cluster.count).filter { !leaders.contains($0) }
        let server = followers[generator.next(below: followers.count)]
        begin("server's disk wiped", "n\(server)", milliseconds: 1, concernsServers: true) {
            cluster.kill(server)
            do {
                try cluster.wipe(server)
                try cluster.start(server)
            } catch { tally.violation("a server cannot be wiped: \(error)") }
        }
        // It reports itself only some time after it was gone.
        usleep(1_500_000)
        if !waitUntilComplete(cluster) { tally.violation("a server with an empty disk does not catch up") }
    }

    private func waitUntilComplete(_ cluster: NATSCluster) -> Bool {
        let start = ContinuousClock.now
        while start.duration(to: .now) < Self.catchUp {
            undo { $0.end <= .now }
            if cluster.standing?.isComplete == true { return true }
            usleep(50_000)
        }
        return false
    }
}
