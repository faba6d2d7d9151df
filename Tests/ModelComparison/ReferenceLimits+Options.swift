import ReferenceModel
import StrataStore

extension ReferenceLimits {
    /// Gives a store the limits of the model.
    package func apply(to options: inout StoreOptions) {
        options.limits.itemsPerRequest = itemsPerRequest
        options.limits.requestBytes = requestBytes
        options.limits.recordBytes = recordBytes
        options.limits.owningReferences = owningReferences
    }
}
