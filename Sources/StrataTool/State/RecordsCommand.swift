import StrataModel
import StrataStore
import StrataViews

/// `strata records`: all records of a database, of any type.
enum RecordsCommand: Command {
    static let name = "records"
    static let summary = "list the records of a database, of all types"
    static let details =
        "Prints a line for each record, zone by zone and in the order of names: name, zone, type, change tag, and when "
        + "and by whom it was last modified. 'strata get' prints the values. It can run while another program writes "
        + "to the store. Exits with 1 if the type, zone or user does not exist."

    static let type = Option.text("--type", "NAME", help: "only records of this type")
    static let limit = Option.limit("--limit", 1...UInt64.max, help: "only the first N records")

    static let options: [any OptionDescription] = [
        DatabaseOptions.zone, type, DatabaseOptions.user, DatabaseOptions.anyDatabase, DatabaseOptions.anyOwner,
        Option.at,
        limit, Option.json,
    ]
    static let examples = [
        "strata records Notes.strata --user anna --zone Notes",
        "strata records Notes.strata --user anna --type Note --json | jq -r .name",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        _ = try DatabaseOptions(arguments)
        return try StateAccess.read(arguments, by: name, output) { access in
            let state = ContainerState(access.store)
            let options = try NamedPlace(access.store).resolve(
                arguments, type: arguments[type], needsZone: true, by: name)
            var list = RecordList(
                state: state, type: try arguments[type].map { try ordinal(ofType: $0, state) },
                limit: arguments[limit] ?? .max, isJSON: arguments[Option.json], output: output)
            if options.database.scope == .shared {
                for (zone, id, _) in try state.sharedZones(options) where !list.isCutShort {
                    try list.add(zone) { try state.sees($0, in: id, options) }
                }
            } else {
                for zone in try state.livingZones(options) where !list.isCutShort { try list.add(zone) }
            }
            try list.writeEnd()
            return .success
        }
    }

    private static func ordinal(ofType name: String, _ state: ContainerState) throws -> UInt64 {
        if let ordinal = try state.trees.ordinal(of: .recordType(name)) { return ordinal }
        throw Refusal(.unknownItem, "Did not find record type: \(name)")
    }
}

/// Prints records page by page as they are found.
struct RecordList {
    private static let pageCount = 256

    let state: ContainerState
    /// The ordinal of the only type to list; nil for all types.
    let type: UInt64?
    let limit: UInt64
    let isJSON: Bool
    let output: Output

    private(set) var isCutShort = false
    private var count: UInt64 = 0
    private var page: [[String]] = []
    private var names: NameCache

    init(state: ContainerState, type: UInt64?, limit: UInt64, isJSON: Bool, output: Output) {
        (self.state, self.type, self.limit) = (state, type, limit)
        (self.isJSON, self.output, names) = (isJSON, output, NameCache(state))
    }

    /// - Parameter isVisible: says which records to list, by their names.
    mutating func add(
        _ zone: ContainerState.ZoneEntry, where isVisible: (String) throws -> Bool = { _ in true }
    ) throws {
        try state.trees.forEachRecord(of: zone.ordinal) { name, bytes in
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            let header = try view.header()
            guard type == nil || header.type == type else { return true }
            let name = String(decoding: name, as: UTF8.self)
            guard try isVisible(name) else { return true }
            guard count < limit else {
                isCutShort = true
                return false
            }
            count += 1
            try add(name, header, zone)
            return true
        }
    }

    private mutating func add(_ name: String, _ header: RecordHeader, _ zone: ContainerState.ZoneEntry) throws {
        let type = try names.text(header.type, of: .recordType)
        let user = try names.text(header.modifiedBy, of: .user)
        if isJSON {
            return try output.writeJSON((name, zone.name, type, header, user), as: Self.shape)
        }
        page.append([
            Printable.escaped(name), Printable.escaped(zone.name), Printable.escaped(type), header.version.tag,
            "\(Timestamp(microseconds: header.modified))", Printable.escaped(user),
        ])
        if page.count >= Self.pageCount { try writePage() }
    }

    static let shape = Shape<
        (name: String, zone: String, type: String, header: RecordHeader, user: String)
    >("A record in a list") {
        Key("name", "of the record") { $0.name }
        Key("zone", "its zone's name") { $0.zone }
        Key("type", "its record type") { $0.type }
        Key("changeTag", "of its newest version") { $0.header.version }
        Key("created", "when") { $0.header.created }
        Key("modified", "when") { $0.header.modified }
        Key("modifiedBy", "name of the user") { $0.user }
    }

    static let end = Shape<RecordList>("The end of a list of records") {
        Key("records", "how many were printed") { $0.count }
        Key("more", "true if `--limit` left any out") { $0.isCutShort }
    }

    private mutating func writePage() throws {
        try Columns.write(page, to: output)
        page.removeAll(keepingCapacity: true)
    }

    mutating func writeEnd() throws {
        try writePage()
        if isJSON { return try output.writeJSON(self, as: Self.end) }
        output.write(count.counted("record"))
        if isCutShort { output.write("; there are more") }
        try output.endLine()
    }
}
