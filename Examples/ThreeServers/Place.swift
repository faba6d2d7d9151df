import CloudKit
import StrataJetStream
import StrataPostgres

/// Returns the place that an address names.
func place(_ address: String) throws -> CloudStore.LogPlace {
    switch address.prefix(while: { $0 != ":" }) {
    case "nats", "tls": try .jetStream(address)
    case "postgres", "postgresql": try .postgres(address)
    default: .directory(address)
    }
}
