import StrataModel

/// The origin of the events that a scan reads.
struct ScannedCommit {
    /// A user with a device. 0 stands for the system, and for no device.
    struct Author: Hashable {
        let user: UInt64
        let device: UInt64
    }

    let offset: UInt64
    let time: Int64
    let author: Author
    let operation: EnvelopeHeader.OperationKind
}

extension KnownNames {
    func text(of author: ScannedCommit.Author) -> String { actorText(author.user, author.device) }

    /// Returns the user as the only name in a list; empty for the system.
    func people(_ users: UInt64...) -> [String] { users.filter { $0 != 0 }.map { name(.user, $0) ?? "user \($0)" } }
}

extension NameList {
    static func text(of records: [RecordKey]) -> String {
        text(records.lazy.map { Printable.escaped($0.name) }, of: records.count)
    }
}

extension Finding {
    /// Creates a finding about a commit.
    init(
        _ kind: Kind, _ commit: ScannedCommit, zone: UInt64? = nil, record: String? = nil, people: [String] = [],
        _ text: String, count: UInt64 = 1, next: [String], _ names: KnownNames
    ) {
        self.init(kind: kind, text: text, next: next)
        (offset, time, self.record, self.count) = (commit.offset, commit.time, record, count)
        self.people = names.people(commit.author.user)
        for person in people where !self.people.contains(person) { self.people.append(person) }
        if let zone { (self.zone, database) = (names.zone(zone) ?? "zone \(zone)", names.databaseID(ofZone: zone)) }
    }

    /// Returns the words of the command that shows the history of a record.
    static func history(of record: RecordKey, _ names: KnownNames) -> [String] {
        ["history"] + options(ofZone: record.zone, names) + ["--", record.name]
    }

    /// Returns the options that name a zone on a command line.
    private static func options(ofZone zone: UInt64, _ names: KnownNames) -> [String] {
        var words = ["--zone", names.zone(zone) ?? ""]
        switch names.databaseID(ofZone: zone) {
        case let database? where database.scope == .public: words += ["--database", "public"]
        case let database?: words += ["--owner", database.owner]
        case nil: break
        }
        return words
    }
}
