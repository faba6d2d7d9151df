/// Whether saves extend the schema.
public enum SchemaMode: Sendable, Hashable {
    /// Saving a new record type or key declares it, as in CloudKit's development environment.
    case open
    /// What has not been declared is refused, as in CloudKit's production environment (B24).
    case enforced
}
