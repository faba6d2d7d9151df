@testable import StrataStore

extension StoreOptions {
    /// The options of a service that notes refusals: with a batch, when there are too many, or at the end.
    static var notingRefusals: StoreOptions {
        var options = StoreOptions.service
        options.recordsRefusals = true
        options.auditDelayMilliseconds = 3_600_000
        return options
    }
}
