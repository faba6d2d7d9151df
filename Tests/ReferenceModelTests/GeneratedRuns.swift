import StrataModel

@testable import ReferenceModel

/// What the plain model answers to generated requests, of a fixed number of seeds: made once for all tests.
struct GeneratedRun {
    static let seedCount: UInt64 = 60
    static let stepCount = 60
    static let all = (1...seedCount).map { GeneratedRun(seed: $0) }
    static let allWithRoles = (1...seedCount).map { GeneratedRun(seed: $0, hasRoles: true) }
    static let allWithShares = (1...seedCount).map { GeneratedRun(seed: $0, hasShares: true) }

    let seed: UInt64
    let limits: ReferenceLimits
    var steps: [RequestGenerator.Step] = []
    var answers: [Result<RequestResult, Refusal>] = []
    let end: ReferenceState

    init(seed: UInt64, hasRoles: Bool = false, hasShares: Bool = false) {
        self.seed = seed
        limits = hasShares ? .ofShares : .small
        var store = Self.store(nil, limits)
        var generator = RequestGenerator(seed: seed, limits: limits, hasRoles: hasRoles, hasShares: hasShares)
        for _ in 0..<Self.stepCount {
            let step = generator.next(for: store)
            steps.append(step)
            answers.append(Self.answer(to: step, of: &store))
        }
        end = store.state
    }

    /// The number of the step at which a store with the mutation is known by an answer; the count if by the end state.
    func divergence(of mutation: ReferenceStore.Mutation?) -> Int? {
        var store = Self.store(mutation, limits)
        for (index, step) in steps.enumerated() where Self.answer(to: step, of: &store) != answers[index] {
            return index
        }
        return store.state == end ? nil : steps.count
    }

    private static func store(
        _ mutation: ReferenceStore.Mutation?, _ limits: ReferenceLimits
    ) -> ReferenceStore {
        ReferenceStore(limits: limits, mutation: mutation, userRecordName: ReferenceFixture.userRecordName)
    }

    /// Without messages, which no store has to repeat.
    private static func answer(
        to step: RequestGenerator.Step, of store: inout ReferenceStore
    ) -> Result<RequestResult, Refusal> {
        do throws(Refusal) {
            var result = try store.modify(step.request, as: step.actor, time: step.time)
            result.saves = result.saves.map { $0.mapError(bare) }
            result.deletes = result.deletes.map { $0.map(bare) }
            return .success(result)
        } catch { return .failure(bare(error)) }
    }

    private static func bare(_ refusal: Refusal) -> Refusal {
        var refusal = refusal
        refusal.message = ""
        return refusal
    }
}
