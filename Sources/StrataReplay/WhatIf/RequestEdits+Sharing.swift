import StrataModel
import StrataTree
import StrataViews

/// Edits of the shares that a request saves.
extension RequestEdits {
    /// The field that stands for a participant's permission in edits is this and the participant's user or address.
    static let permissionField = "permission:"
    static let removedPermission = "removed"
    private static let publicField = "publicPermission"
    private static let permissions: [String: SharePermission] = [
        "none": .none, "readOnly": .readOnly, "readWrite": .readWrite,
    ]

    /// Gives everybody or a participant of a saved share another permission, or drops the participant's invitation if
    /// the value is `removed`. Returns false if the field is not one of a share.
    static func editShare(
        _ field: String, of record: String?, to value: EditedValue, in body: inout ModifyRecordsRequest,
        at offset: UInt64, _ state: Fork
    ) throws -> Bool {
        guard field == publicField || field.hasPrefix(permissionField), case .text(let text) = value else {
            return false
        }
        let shares = body.saves.indices.filter { index in
            body.saves[index].sharing != nil && (record.map { isSameText($0, body.saves[index].record.name) } ?? true)
        }
        guard shares.count == 1 else {
            throw StrataError(
                .invalidArgument, "The edit does not name one of the shares that the commit's request saves.",
                .init(
                    offset: offset,
                    expected: body.saves.filter { $0.sharing != nil }.map(\.record.name).joined(
                        separator: " or "), found: record ?? field))
        }
        let isRemoved = text == removedPermission && field != publicField
        guard isRemoved || permissions[text] != nil else {
            throw StrataError(
                .invalidArgument, "The new permission is none of those that a share can give.",
                .init(offset: offset, expected: "none, readOnly, readWrite or, for a participant, removed", found: text)
            )
        }
        if field == publicField {
            body.saves[shares[0]].sharing?.publicPermission = permissions[text]
            return true
        }
        let name = String(field.dropFirst(permissionField.count))
        var participants = body.saves[shares[0]].sharing?.participants ?? []
        guard let index = try participants.firstIndex(where: { try $0.isNamed(name, in: state) }) else {
            throw StrataError(
                .invalidArgument, "The share that the commit's request saves has no such participant.",
                .init(offset: offset, found: name))
        }
        if let permission = permissions[text] {
            participants[index].permission = permission
        } else {
            participants.remove(at: index)
        }
        body.saves[shares[0]].sharing?.participants = participants
        return true
    }
}

extension ShareChange.Participant {
    fileprivate func isNamed(_ name: String, in state: Fork) throws -> Bool {
        if isSameText(id, name) { return true }
        let (text, address): (String, UserAddress)
        switch subject {
        case .user(let recordName): (text, address) = (recordName, UserAddress(.recordName, recordName))
        case .address(.email(let email)): (text, address) = (email, UserAddress(.email, email))
        case .address(.phone(let phone)): (text, address) = (phone, UserAddress(.phone, phone))
        case .oneTimeURL: return false
        }
        if isSameText(text, name) { return true }
        guard let user = try state.user(at: address).flatMap({ try state.user($0) }) else { return false }
        return isSameText(user, name)
    }
}
