import Foundation

/// Faults that are put in on purpose: each has to be noticed, or the campaigns prove nothing.
struct NemesisCanaries {
    private let work: String
    private let seed: UInt64

    private static let seconds = 2

    init(in work: String, seed: UInt64) { (self.work, self.seed) = (work, seed) }

    /// - Returns: what the program ends with.
    func run() throws -> Int32 {
        let plain = campaign("plain")
        _ = try plain.run()
        let problem = plain.tally.violations.first
        print("a run without a bug: \(problem ?? "nothing is wrong")")
        var missed = problem == nil ? 0 : 1
        func expect(_ tally: Tally, _ name: String) {
            print("\(name): \(tally.violations.first.map { "noticed, \($0.prefix(120))" } ?? "NOT NOTICED")")
            if tally.violationCount == 0 { missed += 1 }
        }
        for doctoring in Checker.Doctoring.allCases {
            let tally = Tally(isQuiet: true)
            var checker = Checker(plain.folder, tally, doctoring)
            try checker.run()
            expect(tally, "a history in which a commit is \(doctoring)")
        }
        for fault in InjectedFault.allCases {
            var campaign = campaign(fault.rawValue)
            campaign.fault = fault
            _ = try campaign.run()
            expect(campaign.tally, "processes with the bug '\(fault)'")
        }
        var forgetful = campaign("forgetful")
        forgetful.forgets = true
        _ = try forgetful.run()
        expect(forgetful.tally, "a sequencer that forgets its last entries")
        try? FileManager.default.removeItem(atPath: work + "/canary")
        return missed == 0 ? 0 : 1
    }

    private func campaign(_ name: String) -> Campaign {
        var campaign = Campaign(in: "\(work)/canary/\(name)", seed: seed, seconds: Self.seconds, Tally(isQuiet: true))
        campaign.quietSeconds = 1
        campaign.slots = 8
        return campaign
    }
}
