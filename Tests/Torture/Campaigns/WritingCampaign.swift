import Foundation
import Glibc
import TestSupport

/// Children that write until they are killed, or until what is done to the system stops them; after each run their
/// store is checked. A round is the life of one store.
struct WritingCampaign: Campaign {
    enum Harm: Sendable {
        case kills, clock, limits, disk
        /// Calls of the system fail, by a library that stands between the child and the C library.
        case faults(library: String)
    }

    /// What a canary has wrong, so that checking must find it.
    enum Fault: Sendable {
        /// Acknowledged before it is saved.
        case early
        /// Acknowledged, and never asked for.
        case forged
    }

    let harm: Harm
    private let fault: Fault?

    init(_ harm: Harm, fault: Fault? = nil) { (self.harm, self.fault) = (harm, fault) }

    var name: String {
        switch harm {
        case .kills: "kills"
        case .clock: "clock"
        case .limits: "limits"
        case .disk: "disk"
        case .faults: "faults"
        }
    }

    var weight: Double {
        switch harm {
        case .kills: 8
        case .faults: 3
        default: 1
        }
    }

    var obstacle: String? {
        switch harm {
        case .faults(let library) where library.isEmpty: "there is no compiler for the library that makes calls fail"
        case .disk where !SmallDisk.isPermitted: "only root may mount a small disk"
        default: nil
        }
    }

    func run(_ round: Round) throws {
        var generator = SeededGenerator(seed: round.seed)
        var settings = settings(round, &generator)
        var disk: SmallDisk?
        if case .disk = harm {
            disk = try SmallDisk(at: "\(round.folder)/disk")
            settings.store = "\(round.folder)/disk/Store.strata"
        }
        defer { disk?.remove() }
        for run in 0..<4 + generator.next(below: 5) {
            guard !round.hasFailed else { return }
            settings.acknowledgements = "\(round.folder)/acknowledged-\(run)"
            try disk?.leaveFree(bytes: 96 << 10 + generator.next(below: 1 << 20))
            write(round, settings, disk, &generator)
            try disk?.leaveFree(bytes: 128 << 20)
            if fault == .forged { try forge(settings) }
            // A child that was killed before it began anything has left nothing to compare.
            let hasBegun = !Acknowledgements.read(settings.acknowledgements).isEmpty
            if !round.hasFailed, hasBegun { try check(round, &settings) }
        }
    }

    private func settings(_ round: Round, _ generator: inout SeededGenerator) -> ChildSettings {
        var settings = ChildSettings()
        settings.folder = round.folder
        settings.store = "\(round.number % 2 == 0 ? round.folder : round.memory)/Store.strata"
        settings.seed = round.seed
        settings.durability = [.commit, .commit, .interval(.milliseconds(20)), .system][generator.next(below: 4)]
        switch harm {
        case .kills: settings.usesCloudKit = generator.next(below: 3) == 0
        case .clock: settings.isClockWild = true
        case .limits:
            settings.toleratesErrors = true
            switch generator.next(below: 3) {
            case 0: settings.fileBytes = UInt64(64 << 10 + generator.next(below: 2 << 20))
            case 1: settings.descriptors = UInt64(14 + generator.next(below: 20))
            default: settings.addressSpace = UInt64(4 + generator.next(below: 700)) << 30
            }
        case .disk: (settings.toleratesErrors, settings.awaitsRoom) = (true, true)
        case .faults: settings.toleratesErrors = true
        }
        if fault != nil { (settings.isEarly, settings.usesCloudKit) = (fault == .early, false) }
        return settings
    }

    private func forge(_ settings: ChildSettings) throws {
        let acknowledgements = try Acknowledgements(at: settings.acknowledgements)
        let last = Acknowledgements.read(settings.acknowledgements)[0]?.begun ?? settings.numbers[0]
        for number in last + 1...last + 8 {
            acknowledgements.begin(0, number)
            acknowledgements.acknowledge(0, number, nil)
        }
    }

    private func environment(_ settings: ChildSettings, _ generator: inout SeededGenerator) -> [String: String] {
        guard case .faults(let library) = harm else { return [:] }
        let kinds = ["eio", "enospc", "short", "eio,enospc,short"][generator.next(below: 4)]
        let every = [20, 100, 800][generator.next(below: 3)]
        return [
            "LD_PRELOAD": library, "TORTURE_FOLDER": settings.store, "TORTURE_SEED": "\(generator.next() >> 1)",
            "TORTURE_AFTER": "\(generator.next(below: generator.next(below: 2) == 0 ? 100 : 2_000))",
            "TORTURE_EVERY": "\(every)", "TORTURE_KINDS": kinds,
        ]
    }

    /// Lets a child write, and kills it at some moment: while it opens the store, or up to five seconds later.
    private func write(
        _ round: Round, _ settings: ChildSettings, _ disk: SmallDisk?, _ generator: inout SeededGenerator
    ) {
        guard let child = try? round.start(["write"] + settings.words, environment: environment(settings, &generator))
        else { return round.fail(.wrong, "no child could be started") }
        let killsRecovery = generator.next(below: 5) < 2
        let recovery = 0.01 + Double(generator.next(below: 200)) / 1_000
        let writing = 0.05 + Double(generator.next(below: generator.next(below: 3) == 0 ? 5_000 : 1_500)) / 1_000
        var (isOpen, deadline) = (false, ContinuousClock.now + .seconds(killsRecovery ? recovery : 30))
        while true {
            let left = max(0, (deadline - .now) / .seconds(1))
            switch child.nextLine(withinSeconds: left) {
            case .line(let line):
                let words = line.split(separator: " ")
                if words.first == "opened" {
                    isOpen = true
                    if !killsRecovery { deadline = .now + .seconds(writing) }
                }
                if words.first == "full" {
                    round.tally.add(to: "full disks")
                    try? disk?.leaveFree(bytes: 512 << 10)
                }
                if !settings.toleratesErrors || words.first != "failed" { round.take(line, words) }
                if words.first == "failed" {
                    round.tally.add(to: "failed openings")
                    if !settings.toleratesErrors { round.fail(.wrong, "the store could not be opened: \(line)") }
                }
            case .silence:
                child.kill()
                if !isOpen, !killsRecovery { return round.fail(.hangs, "the store was not open after 30 s") }
                round.tally.add(to: "kills")
                if !isOpen { round.tally.add(to: "recoveries killed") }
                return
            case .end:
                let status = child.wait()
                if status != 0 { round.fail(.traps, "\(Round.text(ofStatus: status)), write \(settings.words)") }
                return
            }
        }
    }

    private func check(_ round: Round, _ settings: inout ChildSettings) throws {
        let child = try round.start(["check"] + settings.words)
        var numbers = settings.numbers + [settings.counter]
        round.tally.add(2, to: "openings")
        _ = round.follow(child, patienceSeconds: 120) { words in
            guard words.first == "number", words.count == 3, let writer = Int(words[1]), let number = Int(words[2]),
                numbers.indices.contains(writer)
            else { return }
            numbers[writer] = number
        }
        settings.counter = numbers.removeLast()
        settings.numbers = numbers
    }
}
