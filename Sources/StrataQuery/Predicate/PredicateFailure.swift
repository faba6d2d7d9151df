/// The first error of a predicate's evaluation, stored because its parts cannot throw it.
final class PredicateFailure {
    let budget: ExpressionBudget
    private var error: (any Error)?

    init(_ budget: ExpressionBudget) { self.budget = budget }

    /// Runs `body`; returns nil if it fails or an earlier call has failed.
    func answering<Result>(_ body: () throws -> Result?) -> Result? {
        if error != nil { return nil }
        do { return try body() } catch {
            self.error = error
            return nil
        }
    }

    func rethrow() throws {
        guard let error else { return }
        self.error = nil
        throw error
    }
}
