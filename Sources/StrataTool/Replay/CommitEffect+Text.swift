import StrataModel
import StrataReplay

/// Prints the effects of a commit besides the saves and deletions of records.
extension CommitEffect {
    func write(to output: Output) throws {
        switch self {
        case .zone(let name, let records, let count):
            try output.writeLine(
                indented: "zone \(Printable.escaped(name))  "
                    + Printable.escaped(NameList.companions(records, of: count)))
        case .erasure(let records, let count):
            try output.writeLine(indented: "erased: " + Printable.escaped(NameList.text(records, of: count)))
        default:
            try output.writeLine(indented: title)
            for (line, ink) in changes.map(\.line) {
                output.write("        ")
                try output.writeLine(line, ink)
            }
        }
    }

    private var title: String {
        switch self {
        case .account(let user, _): "account of \(Printable.escaped(user))"
        case .tokens(let database, _, _): "tokens of " + (database?.shownText ?? "all databases")
        case .zone(let name, _, _): "zone \(Printable.escaped(name))"
        case .erasure: "erased"
        case .share(let name, _, _): "share \(Printable.escaped(name))"
        }
    }

    fileprivate var changes: [ChangeText] {
        switch self {
        case .account(_, let changes):
            changes.map { change in
                ChangeText(
                    name: change.name, old: change.old.map { Printable.escaped($0) },
                    new: change.new.map { Printable.escaped($0) })
            }
        case .tokens(_, let before, let after):
            [ChangeText(name: "valid from", old: "commit \(before)", new: "commit \(after)")]
        case .share(_, let before, let after): ShareStateText.changes(from: before, to: after)
        case .zone, .erasure: []
        }
    }
}

extension CommitEffect: Shaped {
    static let shape = Shape<Self>("An effect of a commit") {
        Key("effect", "`account`, `tokens`, `zone` for a deletion with its records, `erasure` or `share`") {
            effect -> String in
            switch effect {
            case .account: "account"
            case .tokens: "tokens"
            case .zone: "zone"
            case .erasure: "erasure"
            case .share: "share"
            }
        }
        Key("of", "name of the user, the zone or the share, or the database in words", if: "except for erasures") {
            effect -> String? in
            switch effect {
            case .account(let name, _), .zone(let name, _, _), .share(let name, _, _): name
            case .tokens(let database, _, _): database.map { $0.scope.name + " of \($0.owner)" } ?? "all databases"
            case .erasure: nil
            }
        }
        Key("changes", "what changed", each: change, if: "accounts and tokens") { effect -> [ChangeText]? in
            switch effect {
            case .account, .tokens: effect.changes
            default: nil
            }
        }
        Key("records", "names of the first \(NameList.maximumCount) records", if: "zones and erasures") {
            effect -> [String]? in
            switch effect {
            case .zone(_, let records, _), .erasure(let records, _): records
            default: nil
            }
        }
        Key("recordCount", "how many records there were", if: "zones and erasures") { effect -> Int? in
            switch effect {
            case .zone(_, _, let count), .erasure(_, let count): count
            default: nil
            }
        }
        Key("oldShare", "the state before", as: ShareState.shape, if: "shares: unless it is new") {
            effect -> ShareState? in
            if case .share(_, let before, _) = effect { before } else { nil }
        }
        Key("newShare", "the state after", as: ShareState.shape, if: "shares: unless it was deleted") {
            effect -> ShareState? in
            if case .share(_, _, let after) = effect { after } else { nil }
        }
    }

    private static let change = Shape<ChangeText>("A changed part") {
        Key("name", "such as `quota`, in words") { $0.name }
        Key("old", "the value before, in words", if: "if there was one") { $0.old }
        Key("new", "the value after, in words", if: "if there is one") { $0.new }
    }
}
