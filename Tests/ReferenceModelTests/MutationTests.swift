import StrataModel
import Testing

@testable import ReferenceModel

/// That the generated requests would notice each broken rule: the canary of all tests that use them.
@Suite struct MutationTests {
    @Test(arguments: ReferenceStore.Mutation.allCases)
    func `A broken rule is noticed`(mutation: ReferenceStore.Mutation) {
        let runs =
            mutation.needsShares
            ? GeneratedRun.allWithShares : mutation.needsRoles ? GeneratedRun.allWithRoles : GeneratedRun.all
        let noticed = runs.first { $0.divergence(of: mutation) != nil }
        #expect(noticed != nil, "no answer and no state differs in \(GeneratedRun.seedCount) seeds")
    }

    @Test func `The plain model answers the same twice`() {
        for run in GeneratedRun.all.prefix(10) { #expect(run.divergence(of: nil) == nil) }
    }
}

/// That the generator draws all there is.
@Suite struct GeneratorCoverageTests {
    private static let codes: [Refusal.Code] = [
        .notAuthenticated, .permissionFailure, .unknownItem, .invalidArguments, .serverRecordChanged,
        .batchRequestFailed, .badDatabase, .zoneNotFound, .limitExceeded, .userDeletedZone, .referenceViolation,
    ]

    @Test func `Every refusal and mostly success`() {
        var counts: [Refusal.Code?: Int] = [:]
        for answer in GeneratedRun.all.flatMap(\.answers) {
            for code in ReferenceFixture.codes(of: answer) { counts[code, default: 0] += 1 }
        }
        for code in Self.codes { #expect(counts[code, default: 0] > 0, "\(code) never came") }
        let refused = counts.reduce(0) { $0 + ($1.key == nil ? 0 : $1.value) }
        #expect(counts[nil, default: 0] > refused)
    }

    @Test func `Databases grow and zones end in every way`() {
        let databases = GeneratedRun.all.flatMap { $0.end.databases.values }
        let zones = databases.flatMap { $0.zones.values }
        let records = zones.flatMap { $0.records.values }
        #expect(records.count > 10 * GeneratedRun.all.count)
        for reason in ZoneDeletedEvent.Reason.allCases { #expect(zones.contains { $0.ending == reason }) }
        for kind in [FieldKind.sealed, .asset, .location, FieldKind.reference.list, .emptyList] {
            #expect(records.contains { $0.fields.values.contains { $0.kind == kind } })
        }
    }

    @Test func `Users join shares of others, write there and are refused`() {
        let runs = GeneratedRun.allWithShares
        let answers = runs.flatMap(\.answers).flatMap { ReferenceFixture.codes(of: $0) }
        let codes = Set(answers.compactMap { $0 })
        #expect(!codes.contains(.internalError) && codes.contains(Refusal.Code(rawValue: 30)))
        var joined = 0
        var written = 0
        for (step, answer) in runs.flatMap({ zip($0.steps, $0.answers) }) where step.request.database.scope == .shared {
            let successes = ReferenceFixture.codes(of: answer).count { $0 == nil }
            if case .joinShares = step.request.content { joined += successes } else { written += successes }
        }
        #expect(joined > runs.count && written > runs.count)
        let lists = runs.flatMap { $0.end.databases.values }.flatMap { $0.zones.values }
            .flatMap { $0.records.values.compactMap(\.sharing?.participants) }.joined()
        #expect(lists.contains { $0.role == .publicUser } && lists.contains { $0.role == .administrator })
    }

    @Test func `The same seed draws the same`() {
        #expect(GeneratedRun(seed: 3).steps == GeneratedRun.all[2].steps)
        #expect(GeneratedRun.all[2].steps != GeneratedRun.all[3].steps)
    }
}
