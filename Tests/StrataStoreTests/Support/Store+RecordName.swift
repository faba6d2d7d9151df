import StrataStore
import Testing

extension Store {
    /// Returns the name of a user's own record; records an issue if it cannot be read.
    func recordName(of user: String) -> String {
        do { return try snapshot().recordName(of: user) } catch {
            Issue.record(error)
            return ""
        }
    }
}
