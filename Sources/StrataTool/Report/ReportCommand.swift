import StrataModel

/// `strata report`: a page that shows the contents of a store.
enum ReportCommand: Command {
    static let name = "report"
    static let summary = "write an HTML page that shows what is in a store"
    static let details =
        "Writes one HTML file that needs neither a network nor other files: commits by time, zone and kind, sizes, the "
        + "records that changed most, refusals and conflicts, a map of the segments, the shares that were made, "
        + "changed or ended, with their participants, and searchable histories of records. The records are those that "
        + "--record names, then those that changed most and last, as many as there is room for; the page says what it "
        + "leaves out. Encrypted values are not decrypted. With --zone it shows only what concerns zones with that "
        + "name. FILE gets its name once it is complete. The same store gives the same page. It can run while another "
        + "program writes to the store. For a damaged store the page shows the intact part before the damage and says "
        + "so, and the command exits with 3."

    static let zone = Option.text("--zone", "NAME", help: "only what concerns zones with this name")
    static let record = Option<String>(
        name: "--record", valueName: "NAME",
        help: "put the histories of records with this name before all others; repeat for more", isRepeatable: true
    ) { text throws(UsageError) in text }
    static let records = Option.number(
        "--records", "N", 0...10_000,
        help: "histories of at most N records; the default is \(ReportRequest.usualRecords)")
    static let size = Option.number(
        "--size", "MIB", 1...32,
        help: "the maximum size of the page in MiB; the default is "
            + "\(ReportRequest.usualMebibytes)")

    static let operands = [
        Operand.store, Operand(name: "FILE", help: "the page to write, such as Notes.html; - for standard output"),
    ]
    static let options: [any OptionDescription] = CommitRange.options + [zone, record, records, size]
    static let examples = [
        "strata report Notes.strata Notes.html", "strata report Notes.strata Notes.html --since 7d --zone Notes",
        "strata report Notes.strata Notes.html --record note-1 --records 100",
    ]

    /// Markup is not read page by page.
    static func isPaged(_ arguments: Arguments) -> Bool { false }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try CommitRange.check(arguments)
        try StoreAccess.requireDirectory(arguments.store)
        let request = ReportRequest(arguments)
        let target = try ExportOutput(arguments.operands[1], store: arguments.store, standard: output)
        var damage: StrataError?
        do {
            _ = try target.write {
                let content = try ReportContent(request)
                damage = content.damage
                guard content.scan.statistics.knowsZone || damage != nil else {
                    throw Refusal(.zoneNotFound, "there is no zone '\(request.zone ?? "")' in these commits")
                }
                try write(content, request, to: $0)
                // The page is complete even for a damaged store, and a browser needs the file's name.
                return true
            }
        } catch let refusal as Refusal {
            return Diagnostics.refuse(refusal, by: name)
        }
        if let damage { throw damage }
        return .success
    }

    private static func write(_ content: ReportContent, _ request: ReportRequest, to output: Output) throws {
        let page = ReportPage(content)
        let (front, rest) = (page.front, page.rest)
        let room = ReportPage.room(on: request.maximumBytes, beside: front, rest)
        let histories = try content.histories(maximumBytes: room)
        page.write(histories, between: front, and: rest, to: output)
        if let note = content.note(of: histories) { Diagnostics.remark(note, by: name) }
    }
}

/// The page that a command line requests.
struct ReportRequest {
    static let usualRecords: UInt64 = 1_000
    static let usualMebibytes: UInt64 = 8

    let arguments: Arguments
    var path: String { arguments.store }
    var zone: String? { arguments[ReportCommand.zone] }
    /// The names of requested records.
    var records: [String] { arguments.all(ReportCommand.record) }
    var mostRecords: Int { Int(arguments[ReportCommand.records] ?? Self.usualRecords) }
    var maximumBytes: Int { Int(arguments[ReportCommand.size] ?? Self.usualMebibytes) << 20 }

    init(_ arguments: Arguments) { self.arguments = arguments }
}
