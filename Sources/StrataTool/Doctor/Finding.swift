import StrataModel

/// Something in a store that deserves a look.
struct Finding {
    /// The kinds, the worst first.
    enum Kind: String, CaseIterable {
        case damage, overwrite
        case massDeletion = "mass-deletion"
        case zoneDeletion = "zone-deletion"
        case cascade
        case backAndForth = "back-and-forth"
        case lostShare = "lost-share"
        case leftShare = "left-share"
        case refusals
        case deadToken = "dead-token"
        case behind
        case push, invitation, clock
        case lookAlike = "look-alike"
        case store

        /// The finding in a few words, for the summary.
        var noun: (one: String, many: String) {
            switch self {
            case .damage: ("damage", "damages")
            case .overwrite: ("overwrite", "overwrites")
            case .massDeletion: ("mass deletion", "mass deletions")
            case .zoneDeletion: ("deleted zone", "deleted zones")
            case .cascade: ("cascade", "cascades")
            case .backAndForth: ("field changed back and forth", "fields changed back and forth")
            case .lostShare: ("lost share", "lost shares")
            case .leftShare: ("group of records that left a share", "groups of records that left a share")
            case .refusals: ("cause of refusals", "causes of refusals")
            case .deadToken: ("dead token", "dead tokens")
            case .behind: ("device behind", "devices behind")
            case .push: ("subscription without a device", "subscriptions without a device")
            case .invitation: ("open invitation", "open invitations")
            case .clock: ("irregularity of the clock", "irregularities of the clock")
            case .lookAlike: ("look-alike", "look-alikes")
            case .store: ("remark on the files", "remarks on the files")
            }
        }
    }

    /// The number of findings that a scan keeps, the last ones.
    static let mostKept = 10_000

    /// A value that a save overwrote without its client having seen it.
    struct LostValue {
        let field: String
        let ancestor: TimelineValue
        let overwritten: FieldValue?
        let written: FieldValue?
        /// The commit that had written the overwritten value, and its author in words.
        let offset: UInt64
        let author: String
    }

    /// The value that a client began with.
    enum TimelineValue {
        case unknown
        case known(FieldValue?)
    }

    let kind: Kind
    /// The first commit; nil if the finding is about none.
    var offset: UInt64?
    /// The last commit, if it is another one.
    var lastOffset: UInt64?
    var time: Int64?
    /// The zone's name, and its database.
    var zone: String?
    var database: DatabaseID?
    var record: String?
    var people: [String] = []
    /// A sentence without a full stop. It is safe to print.
    var text: String
    var lost: [LostValue] = []
    /// The number of records, commits or requests that it is about.
    var count: UInt64 = 1
    /// The words of the command to type next, without the name of the tool and the store.
    var next: [String]
}

extension Finding: Shaped {
    static let shape = Shape<Self>("A finding") {
        Key("finding", "its kind: `" + Kind.allCases.map(\.rawValue).joined(separator: "`, `") + "`") {
            $0.kind.rawValue
        }
        Key("offset", "its first commit", if: "if it is about one") { $0.offset }
        Key("lastOffset", "its last commit", if: "if that is another one") { $0.lastOffset }
        Key("time", "of the first commit", if: "if known") { $0.time }
        Key("zoneName", "name of the zone", if: "if it is about one") { $0.zone }
        Key("database", "the database of the zone", if: "if it is about a zone") { $0.database?.shownText }
        Key("record", "name of the record", if: "if it is about one") { $0.record }
        Key("people", "the users who are concerned, the author first") { $0.people }
        Key("text", "the finding in words") { $0.text }
        Key("count", "how many records, commits or requests it is about") { $0.count }
        Key("lost", "the values that were overwritten unseen", each: lostShape, if: "if values were") {
            $0.lost.isEmpty ? nil : $0.lost
        }
        Key("next", "the words of a command that shows more, after `strata` and without the store") { $0.next }
    }

    private static let lostShape = Shape<LostValue>("A value overwritten unseen") {
        Key("fieldName", "name of the field") { $0.field }
        Key("ancestor", "the value that the client began with, or null for none", if: "if known") {
            value -> FieldValue?? in
            guard case .known(let ancestor) = value.ancestor else { return nil }
            return .some(ancestor)
        }
        Key("overwritten", "the value that was overwritten, or null for none") { $0.overwritten }
        Key("written", "the value after the save, or null for none") { $0.written }
        Key("by", "the commit that had written the overwritten value") { $0.offset }
        Key("author", "who had written it") { $0.author }
    }
}

// MARK: For people

extension Finding {
    func write(_ store: String, to output: Output) throws {
        var place = ""
        if let offset { place = lastOffset.map { "commits \(offset) to \($0)" } ?? "commit \(offset)" }
        output.write(kind.rawValue.padded(to: 16), kind <= .cascade ? .removed : .place)
        try output.writeLine(place.isEmpty ? text : "\(place)  \(text)")
        try Columns.write(lostRows, indentation: 4, to: output)
        guard let command = next.first else { return }
        let words = [command, store] + next.dropFirst()
        let line = words.map { RecordPlaces.shellWord($0) }.joined(separator: " ")
        try output.writeLine("    strata " + Printable.escaped(line), .faint)
    }

    private var lostRows: [[String]] {
        guard !lost.isEmpty else { return [] }
        func shown(_ value: FieldValue?) -> String { value.map { ValueText.text(of: $0) } ?? "nothing" }
        return [["field", "ancestor", "overwritten", "written", "overwritten value by"]]
            + lost.map { value in
                var ancestor = "?"
                if case .known(let known) = value.ancestor { ancestor = shown(known) }
                return [
                    Printable.escaped(value.field), ancestor, shown(value.overwritten), shown(value.written),
                    "\(value.author), commit \(value.offset)",
                ]
            }
    }
}

extension Finding.Kind: Comparable {
    private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    static func < (left: Self, right: Self) -> Bool { left.place < right.place }
}
