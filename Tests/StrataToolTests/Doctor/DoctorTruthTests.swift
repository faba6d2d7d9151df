import Glibc
import StrataModel
import TestSupport
import Testing

@testable import StrataTool

/// What the doctor finds in histories with planted trouble, whose seeds are drawn anew in each run.
@Suite struct DoctorTruthTests {
    /// `STRATA_DOCTOR_HISTORIES` asks for another number; `STRATA_SEED` for one history again.
    private static var historyCount: Int {
        getenv("STRATA_DOCTOR_HISTORIES").flatMap { Int(String(cString: $0)) } ?? 1_000
    }

    private struct Outcome {
        var missed: [String] = []
        var extra: [String] = []
        var commitCount: UInt64 = 0
        var expectedCount = 0
    }

    private static func examine(
        _ seed: UInt64, scenarioCount: Int, forgetting kind: Finding.Kind? = nil
    ) throws -> Outcome {
        let history = try TroubleHistory(seed: seed, scenarioCount: scenarioCount)
        var findings = try DoctorFindings(try DoctorScan(try StoreAccess(history.path)))
        if let kind { findings.keep(Set(Finding.Kind.allCases).subtracting([kind]), from: 0) }
        var outcome = Outcome(commitCount: findings.commitCount, expectedCount: history.expected.count)
        for expected in history.expected where !findings.all.contains(where: expected.fits) {
            outcome.missed.append("\(expected) (STRATA_SEED=\(seed))")
        }
        for finding in findings.all where !history.expected.contains(where: { $0.fits(finding) }) {
            outcome.extra.append(
                "\(finding.kind.rawValue) \(finding.offset ?? 0): \(finding.text) (STRATA_SEED=\(seed))")
        }
        return outcome
    }

    @Test("Everything planted is found, and nothing else")
    func truth() throws {
        var whole = Outcome()
        let first = UInt64.random(in: 1...1 << 40)
        for seed in getenv("STRATA_SEED") == nil ? (0..<UInt64(Self.historyCount)).map({ first + $0 }) : seeds(1) {
            let outcome = try Self.examine(seed, scenarioCount: 12)
            whole.missed += outcome.missed
            whole.extra += outcome.extra
            whole.commitCount += outcome.commitCount
            whole.expectedCount += outcome.expectedCount
        }
        #expect(whole.missed.isEmpty, "\(whole.missed.prefix(20))")
        // One in a million commits.
        #expect(whole.extra.count <= Int(whole.commitCount / 1_000_000), "\(whole.extra.prefix(20))")
        #expect(whole.expectedCount > 3 * Self.historyCount || Self.historyCount < 100, "\(whole.expectedCount)")
        print("doctor: \(Self.historyCount) histories, \(whole.commitCount) commits, \(whole.expectedCount) planted")
    }

    @Test(
        "A doctor that does not look for one kind is noticed",
        arguments: Finding.Kind.allCases.filter { ![.damage, .store].contains($0) })
    func canary(_ kind: Finding.Kind) throws {
        // All scenarios once; some of them plant something half of the time.
        let missed = try (1...10).lazy.map { seed in
            try Self.examine(seed, scenarioCount: 40, forgetting: kind).missed
        }.first { !$0.isEmpty }
        #expect(missed?.allSatisfy { $0.hasPrefix(kind.rawValue) } == true, "\(missed ?? [])")
    }
}
