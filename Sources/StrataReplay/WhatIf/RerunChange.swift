import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// A change to a history. Offsets are those of commits in the log.
///
/// ```swift
/// rerun.changes = [.drop(4), .edit(7, record: "milk", field: "rank", to: .value(.int64(3)))]
/// ```
public enum RerunChange: Sendable {
    /// Drops what a commit did.
    case drop(UInt64)
    /// Drops an invitation from a share that the commit's request saved.
    ///
    /// - Parameters:
    ///   - record: the record of the share; nil if the request saved only one share.
    ///   - participant: the user, the address or the ID of the participant.
    case dropParticipant(UInt64, record: String? = nil, named: String)
    /// Gives a save of the commit's request another value.
    ///
    /// - Parameter record: the record whose save is changed; nil if only one save has the field.
    case edit(UInt64, record: String? = nil, field: String, to: EditedValue)
    /// Judges the commit's request by another policy.
    case policy(UInt64, SavePolicy)
    /// Inserts requests after a commit, at its time; 0 inserts them before the first commit.
    case insert([Request], by: Actor, after: UInt64)

    /// The commit that the change is about, or the one after an insertion.
    var firstOffset: UInt64 {
        switch self {
        case .drop(let offset), .dropParticipant(let offset, _, _), .edit(let offset, _, _, _), .policy(let offset, _):
            offset
        case .insert(_, _, let offset): offset + 1
        }
    }

    package var offset: UInt64 {
        if case .insert(_, _, let offset) = self { offset } else { firstOffset }
    }
}

/// The new value of a saved field.
public enum EditedValue: Sendable, Hashable {
    /// Nil to remove the key.
    case value(FieldValue?)
    /// A text, or a number as text, of the kind that the request saves.
    case text(String)

    func value(inPlaceOf old: FieldValue?, at offset: UInt64, _ field: String) throws -> FieldValue? {
        guard case .text(let text) = self else {
            if case .value(let value) = self { return value }
            return nil
        }
        let value: FieldValue? =
            switch old {
            case .string: .string(text)
            case .int64: Int64(text).map { .int64($0) }
            case .double: Double(text).map { .double($0) }
            case .date: Double(text).map { .date($0) }
            case nil: Int64(text).map { .int64($0) } ?? Double(text).map { .double($0) } ?? .string(text)
            default: nil
            }
        guard let value else {
            throw StrataError(
                .invalidArgument, "The new value does not have the kind that the commit saves.",
                .init(offset: offset, expected: old.map { "\($0.kind) for \(field)" }, found: text))
        }
        return value
    }
}

/// The changes to the request of one commit.
struct RequestEdits {
    var isDropped = false
    var policy: SavePolicy?
    var values: [(record: String?, field: String, value: EditedValue)] = []

    /// Returns the edits of each commit that has any, by offset.
    static func all(of changes: [RerunChange]) -> [UInt64: RequestEdits] {
        var edits: [UInt64: RequestEdits] = [:]
        for change in changes {
            switch change {
            case .drop(let offset): edits[offset, default: RequestEdits()].isDropped = true
            case .policy(let offset, let policy): edits[offset, default: RequestEdits()].policy = policy
            case .dropParticipant(let offset, let record, let name):
                edits[offset, default: RequestEdits()].values.append(
                    (record, permissionField + name, .text(removedPermission)))
            case .edit(let offset, let record, let field, let value):
                edits[offset, default: RequestEdits()].values.append((record, field, value))
            case .insert: break
            }
        }
        return edits
    }

    /// - Parameter state: the state that the request is judged on, which has the users' addresses.
    func apply(to request: inout Request, at offset: UInt64, in state: Fork) throws {
        guard policy != nil || !values.isEmpty else { return }
        guard case .modifyRecords(var body) = request.content else {
            throw StrataError(
                .invalidArgument, "The commit saves no records to edit.", .init(offset: offset))
        }
        if let policy { body.policy = policy }
        for edit in values {
            if try Self.editShare(edit.field, of: edit.record, to: edit.value, in: &body, at: offset, state) {
                continue
            }
            let found = try Self.place(of: edit.field, of: edit.record, in: body, request.names, at: offset)
            let old = body.saves[found.save].fields[found.field].value
            body.saves[found.save].fields[found.field].value =
                try edit.value.value(inPlaceOf: old, at: offset, edit.field)
        }
        request.content = .modifyRecords(body)
    }

    private static func place(
        of field: String, of record: String?, in body: ModifyRecordsRequest, _ names: RequestNames, at offset: UInt64
    ) throws -> (save: Int, field: Int) {
        var found: [(save: Int, field: Int)] = []
        for (index, save) in body.saves.enumerated() {
            guard record.map({ ExactName(text: $0) == ExactName(text: save.record.name) }) ?? true else { continue }
            for place in save.fields.indices where isKey(save.fields[place].field, field, names) {
                found.append((index, place))
            }
        }
        guard let first = found.first else {
            throw StrataError(
                .invalidArgument, "The commit's request does not save the field.",
                .init(offset: offset, expected: saved(body, names), found: record.map { "\($0).\(field)" } ?? field))
        }
        guard found.count == 1 else {
            throw StrataError(
                .invalidArgument, "Several records of the commit's request save the field: name one of them.",
                .init(
                    offset: offset,
                    expected: found.prefix(8).map {
                        "\(body.saves[$0.save].record.name).\(field)"
                    }.joined(separator: " or "), found: field))
        }
        return first
    }

    private static func isKey(_ ordinal: UInt32, _ name: String, _ names: RequestNames) -> Bool {
        names.key(ordinal).map { ExactName(text: $0) == ExactName(text: name) } ?? false
    }

    /// Lists some of the fields that could have been named.
    private static func saved(_ body: ModifyRecordsRequest, _ names: RequestNames) -> String {
        var all: [String] = []
        for save in body.saves {
            for change in save.fields { all.append("\(save.record.name).\(names.key(change.field) ?? "")") }
        }
        return all.isEmpty ? "a commit that saves fields" : "one of " + all.prefix(12).joined(separator: ", ")
    }
}
