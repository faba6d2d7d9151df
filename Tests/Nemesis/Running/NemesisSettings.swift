import Foundation

/// What the command line asks for.
struct NemesisSettings {
    var seconds = 60
    var seed: UInt64 = 0
    var isJSON = false
    var isCanary = false
    var keeps = false
    var usesDirectory = false
    /// True if the servers keep the assets, false if a directory does.
    var assetsInCluster = true
    /// The number of requests that a client may have on their way.
    var slots = 300
    var checked: String?
    /// The folder in which a run has a folder of its own.
    var work = "/tmp/nemesis"
    /// The program of the servers; empty if there is none.
    var server = ""
    var serverCount = NATSCluster.usualCount
    /// The program of an earlier version of the servers, if they are to be upgraded.
    var earlierServer: String?

    /// Nil, with the reason on standard error, for words that cannot be understood.
    init?(_ words: [String]) {
        var generator = SystemRandomNumberGenerator()
        seed = generator.next() % 1_000_000
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--json": isJSON = true
            case "--canary": isCanary = true
            case "--keep": keeps = true
            default:
                guard let value = rest.popFirst(), set(word, value) else {
                    StoreWorker.complain("cannot understand \(word)")
                    return nil
                }
            }
        }
    }

    private mutating func set(_ word: String, _ value: String) -> Bool {
        switch word {
        case "--seconds":
            guard let number = Int(value), number > 0 else { return false }
            seconds = number
        case "--seed":
            guard let number = UInt64(value) else { return false }
            seed = number
        case "--sequencer":
            guard ["nats", "directory"].contains(value) else { return false }
            usesDirectory = value == "directory"
        case "--assets":
            guard ["cluster", "directory"].contains(value) else { return false }
            assetsInCluster = value == "cluster"
        case "--slots":
            guard let number = Int(value), number > 0 else { return false }
            slots = number
        case "--servers":
            guard ["3", "5"].contains(value), let number = Int(value) else { return false }
            serverCount = number
        case "--check": checked = value
        case "--work": work = URL(fileURLWithPath: value).path
        case "--server": server = value
        case "--earlier-server": earlierServer = value
        default: return false
        }
        return true
    }

    /// - Returns: what the program ends with.
    func run() throws -> Int32 {
        if isCanary { return try NemesisCanaries(in: work, seed: seed).run() }
        guard checked != nil || usesDirectory || !server.isEmpty else {
            StoreWorker.complain("no server: use tools/nemesis, or --sequencer directory")
            return 2
        }
        let tally = Tally()
        var counts: Checker.Counts
        if let checked {
            let folder =
                checked.hasSuffix("/" + History.name) ? String(checked.dropLast(History.name.count + 1)) : checked
            var checker = Checker(folder, tally)
            try checker.run()
            counts = checker.counts
        } else {
            let folder = "\(work)/\(seed)"
            var campaign = Campaign(in: folder, seed: seed, seconds: seconds, tally)
            campaign.binary = usesDirectory ? nil : server
            campaign.earlierBinary = usesDirectory ? nil : earlierServer
            campaign.serverCount = serverCount
            campaign.slots = slots
            campaign.assetsInCluster = assetsInCluster && !usesDirectory
            tally.say("seed \(seed), \(seconds) seconds, in \(folder)")
            counts = try campaign.run()
            if counts.faults.isEmpty { tally.violation("no fault happened, so nothing was shown") }
            if tally.violationCount == 0, !keeps { try? FileManager.default.removeItem(atPath: folder) }
        }
        let report = NemesisReport(tally, counts)
        print(isJSON ? try report.json(seed: seed) : report.text)
        return tally.violationCount == 0 ? 0 : 1
    }
}
