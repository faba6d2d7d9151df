import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// The grants of the record types that readers have looked up, for one state of the schema.
final class GrantDirectory: Sendable {
    struct TypeGrants: Sendable {
        let grants: [SchemaGrant]
        let isUserType: Bool
        /// True if the records may be read by everybody, so that the reader does not matter.
        let isReadByAll: Bool
    }

    private struct State {
        var schema: TreeIdentity?
        var types: [UInt64: TypeGrants] = [:]
    }

    private let state = Lock(State())

    func grants(of type: UInt64, _ names: NameDirectory, in trees: Snapshot) throws -> TypeGrants {
        let schema = try trees.identity(of: ViewTree.schema)
        if let known = state.withLock({ $0.schema == schema ? $0.types[type] : nil }) { return known }
        let grants = try trees.grants(of: type)
        let isUserType = isSameText(try names.text(.recordType, type, in: trees), UserRecord.type)
        let found = TypeGrants(
            grants: grants, isUserType: isUserType,
            isReadByAll: !isUserType && grants.contains { $0.role == "_world" && $0.permissions.contains(.read) })
        state.withLock { state in
            if state.schema != schema { state = State(schema: schema) }
            state.types[type] = found
        }
        return found
    }
}
