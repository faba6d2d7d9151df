/// The effect of saves on the schema.
public enum SchemaMode: Sendable, Hashable {
    /// Saving a new record type or key declares it, as in CloudKit's development environment.
    case open
    /// Undeclared types and keys are rejected, as in CloudKit's production environment (B24).
    case enforced
}
