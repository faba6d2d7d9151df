import StrataModel
import StrataQuery

/// A Swift test that rebuilds a minimal history through the public API, with each device holding the records that it
/// held. It fails as long as the history leads to a record that matches the predicate.
///
/// ```swift
/// let test = try MinimalTest(of: history, named: "LostUpdate", from: "Notes.strata")
/// try test.text.write(toFile: "LostUpdate.swift", atomically: true, encoding: .utf8)
/// ```
public struct MinimalTest: Sendable {
    public let text: String
    /// The parts of the history that the API cannot express and the test leaves out.
    public let leftOut: [String]

    /// - Parameters:
    ///   - name: the name of the suite; characters that a type name cannot have are dropped.
    ///   - source: the origin of the history, for the comment.
    ///   - isKnownIssue: true for a test that passes as long as the issue exists, and fails once it is fixed.
    /// - Throws: ``StrataError`` `invalidArgument` for a history that begins with a base, which the API cannot rebuild.
    public init(
        of history: MinimalHistory, named name: String, from source: String, isKnownIssue: Bool = false
    ) throws {
        guard history.floor == 0 else {
            throw StrataError(
                .invalidArgument, "The history begins with a base, which a test cannot rebuild.",
                .init(
                    expected: "a store with its entire log", found: "a log that begins after offset \(history.floor)"))
        }
        var writer = MinimalTestWriter(history)
        try writer.writeSteps()
        writer.writeExpectation(isKnownIssue: isKnownIssue)
        let suite = SwiftNames.typeName(of: name)
        var lines = ["import CloudKit", "import Testing", ""]
        lines += SwiftText.comment(
            "The requests to which `strata minimize` reduced \(source). With all of them, and no fewer, a record "
                + "of type \(history.question.type) matches \(writer.predicate).", indentation: 0)
        lines += ["@Suite struct \(suite) {", "    @Test func minimalHistory() async throws {"]
        lines += writer.lines
        lines += ["    }", "}"]
        text = lines.joined(separator: "\n") + "\n"
        leftOut = writer.leftOut
    }
}

/// Writes the body of a test.
struct MinimalTestWriter {
    static let indentation = 8

    let history: MinimalHistory
    let predicate: String
    private(set) var lines: [String] = []
    private(set) var leftOut: [String] = []
    var names = SwiftNames()
    /// The variables of the databases, zones and records declared so far.
    private var declared: [String: String] = [:]
    /// The saves that are made from each version.
    private var holders: [Version: [SavePlace]] = [:]
    /// The variable of the record that was fetched for each save.
    private(set) var fetched: [SavePlace: String] = [:]
    /// The participants that each share has, by their IDs, and by the variable of the share's ID.
    var participants: [String: [String: ShareChange.Participant.Subject]] = [:]

    struct SavePlace: Hashable {
        var request: Int
        var save: Int
    }

    init(_ history: MinimalHistory) {
        self.history = history
        predicate = PredicateWriter.text(of: history.question.predicate)
        for (index, request) in history.requests.enumerated() {
            guard case .modifyRecords(let body) = request.request.content else { continue }
            for (place, save) in body.saves.enumerated() {
                if let base = save.base { holders[base, default: []].append(SavePlace(request: index, save: place)) }
            }
        }
    }

    mutating func add(_ line: String) { lines.append(SwiftText.indented(line, Self.indentation)) }

    /// Adds a call, on several lines if it is long.
    mutating func call(_ name: String, _ arguments: [String], suffix: String = "") {
        lines += SwiftText.call(name, arguments, Self.indentation, suffix: suffix)
    }

    mutating func leaveOut(_ what: String) {
        leftOut.append(what)
        lines += SwiftText.comment("Not rebuilt: \(what).", indentation: Self.indentation)
    }

    // MARK: Steps

    mutating func writeSteps() throws {
        let asksTimes = ["creationDate", "modificationDate", "Time", "now("].contains { predicate.contains($0) }
        add("var options = CloudStore.Options.service")
        add("options.predicates = .extended")
        if asksTimes {
            let seconds = Double(history.requests.first?.time ?? 0) / 1_000_000
            add("let clock = CloudStore.ManualClock(Date(timeIntervalSince1970: \(seconds)))")
            add("options.clock = clock")
        }
        add("let store = try CloudStore.inMemory(options: options)")
        let start = lines.count
        defer { declareUsers(at: start) }
        var time = history.requests.first?.time ?? 0
        for (index, request) in history.requests.enumerated() {
            lines.append("")
            add("// Commit \(request.offset)")
            if asksTimes, request.time > time { add("clock.advance(by: .microseconds(\(request.time - time)))") }
            time = request.time
            try write(request, index)
            fetchWhatIsNeeded(of: request)
        }
    }

    /// Declares the users whose records the test names, since every store has other names for them.
    private mutating func declareUsers(at start: Int) {
        var calls: [String] = []
        for (user, recordName) in history.recordNames.sorted(by: { $0.key.text < $1.key.text }) {
            let literal = SwiftText.literal(recordName)
            let isNamed = predicate.contains(recordName) || lines[start...].contains { $0.contains(literal) }
            guard isNamed else { continue }
            calls += SwiftText.call(
                "try store.console.addUser", [SwiftText.literal(user.text), "recordName: \(literal)"],
                Self.indentation, suffix: "")
        }
        lines.insert(contentsOf: calls, at: start)
    }

    private mutating func write(_ request: MinimalRequest, _ index: Int) throws {
        switch request.request.content {
        case .modifyRecords(let body): writeRecords(request, body, index)
        case .modifyZones(let body): writeZones(request, body)
        case .administer(let body): writeConsole(request, body)
        case .modifySubscriptions: leaveOut("subscriptions that commit \(request.offset) modifies")
        case .declareSchema: leaveOut("the schema that commit \(request.offset) declares")
        case .notify: leaveOut("deliveries that commit \(request.offset) records")
        case .joinShares(let body): try writeJoins(request, body)
        }
    }

    // MARK: Records

    private mutating func writeRecords(_ request: MinimalRequest, _ body: ModifyRecordsRequest, _ index: Int) {
        guard let database = database(request.request.database, of: request.actor) else {
            return leaveOut("commit \(request.offset), in a database that its user has no name for")
        }
        let shared = Set(body.saves.filter { $0.sharing != nil }.map(\.record))
        var roots: [RecordKey: String] = [:]
        var variables: [Int: String] = [:]
        for (place, save) in body.saves.enumerated() where save.sharing == nil {
            let variable = write(save, request, SavePlace(request: index, save: place), shared: shared)
            (variables[place], roots[save.record]) = (variable, variable)
        }
        // A share is made from the root that is saved with it.
        for (place, save) in body.saves.enumerated() where save.sharing != nil {
            variables[place] = writeShare(save, request, SavePlace(request: index, save: place), roots: roots)
        }
        let saves = variables.sorted { $0.key < $1.key }.map(\.value)
        let names = request.request.names
        if saves.isEmpty, body.deletes.isEmpty { return }
        let deletes = body.deletes.map { record($0.name, in: names.zone($0.zone)) }
        let isWhole = request.outcome.kind == .accepted
        let attempt = isWhole ? "try await" : "_ = try? await"
        if isWhole, body.policy == .ifServerRecordUnchanged, saves.count + deletes.count == 1 {
            if let save = saves.first { return add("try await \(database).save(\(save))") }
            return add("try await \(database).deleteRecord(withID: \(deletes[0]))")
        }
        var arguments = [
            "saving: [\(saves.joined(separator: ", "))]", "deleting: [\(deletes.joined(separator: ", "))]",
        ]
        switch body.policy {
        case .ifServerRecordUnchanged: break
        case .changedKeys: arguments.append("savePolicy: .changedKeys")
        case .allKeys: arguments.append("savePolicy: .allKeys")
        }
        if !body.isAtomic { arguments.append("atomically: false") }
        call("\(attempt) \(database).modifyRecords", arguments)
    }

    /// Writes the record of a save, and returns its variable.
    ///
    /// - Parameter shared: the records of the shares that the request saves.
    private mutating func write(
        _ save: ModifyRecordsRequest.Save, _ request: MinimalRequest, _ place: SavePlace, shared: Set<RecordKey>
    ) -> String {
        let names = request.request.names
        let variable: String
        if let held = fetched[place] {
            variable = held
        } else {
            let id = record(save.record.name, in: names.zone(save.record.zone))
            if save.base != nil { leaveOut("the change tag of \(save.record.name), which no device was given") }
            variable = self.names.variable(save.record.name, "\(request.offset)")
            let type = SwiftText.literal(names.recordType(save.type) ?? "")
            call("let \(variable) = CKRecord", ["recordType: \(type)", "recordID: \(id)"])
        }
        writeFields(of: save, to: variable, names)
        switch save.parent {
        case .kept: break
        case .removed: add("\(variable).parent = nil")
        case .set(let parent): add("\(variable).setParent(\(record(parent.name, in: names.zone(parent.zone))))")
        }
        switch save.share {
        case .kept: break
        case .set(let share) where shared.contains(share): break
        default: leaveOut("the share of \(save.record.name)")
        }
        return variable
    }

    mutating func writeFields(of save: ModifyRecordsRequest.Save, to variable: String, _ names: RequestNames) {
        for change in save.fields {
            let key = names.key(change.field) ?? ""
            guard let value = change.value else {
                add("\(variable)[\(SwiftText.literal(key))] = nil")
                continue
            }
            let text = SwiftValue(value) { record($0.name, in: names.zone($0.zone)) }
            guard let text else {
                leaveOut("\(save.record.name).\(key), \(value.kind.description), whose content the log does not have")
                continue
            }
            lines += text.assignment(to: "\(variable)[\(SwiftText.literal(key))]", Self.indentation) {
                self.names.variable(variable, key)
            }
        }
    }

    /// Fetches, right after a request, the versions it made that devices save from later.
    private mutating func fetchWhatIsNeeded(of request: MinimalRequest) {
        guard let offset = request.newOffset else { return }
        let made = holders.keys.filter { $0.offset == offset }.sorted()
        for version in made {
            for place in holders[version] ?? [] {
                let later = history.requests[place.request]
                guard case .modifyRecords(let body) = later.request.content,
                    let database = database(later.request.database, of: later.actor)
                else { continue }
                let save = body.saves[place.save]
                let id = record(save.record.name, in: later.request.names.zone(save.record.zone))
                let variable = names.variable(save.record.name, "\(later.offset)")
                if save.sharing != nil {
                    fetchShare(variable, id, from: database)
                } else if body.policy == .allKeys {
                    // Without fields, so that the save does not send the ones it does not change.
                    call(
                        "let \(variable) = try await \(database).records",
                        ["for: [\(id)]", "desiredKeys: []"], suffix: "[\(id)]!.get()")
                } else {
                    call("let \(variable) = try await \(database).record", ["for: \(id)"])
                }
                fetched[place] = variable
            }
        }
    }

    // MARK: Other requests

    private mutating func writeZones(_ request: MinimalRequest, _ body: ModifyZonesRequest) {
        guard let database = database(request.request.database, of: request.actor) else {
            return leaveOut("zones of commit \(request.offset), in a database that its user has no name for")
        }
        let names = request.request.names
        let saves = body.saves.map { zone(names.zone($0.zone)) }
        let deletes = body.deletes.map { zone(names.zone($0)) }
        if body.saves.contains(where: { $0.encryptionScope != .record }) {
            leaveOut("the encryption scope of zones in commit \(request.offset)")
        }
        let attempt = request.outcome.kind == .accepted ? "try await" : "_ = try? await"
        if saves.count + deletes.count == 1 {
            if let save = saves.first { return add("\(attempt) \(database).save(CKRecordZone(zoneID: \(save)))") }
            return add("\(attempt) \(database).deleteRecordZone(withID: \(deletes[0]))")
        }
        let made = saves.map { "CKRecordZone(zoneID: \($0))" }.joined(separator: ", ")
        call(
            "\(attempt) \(database).modifyRecordZones",
            ["saving: [\(made)]", "deleting: [\(deletes.joined(separator: ", "))]"])
    }

    private mutating func writeConsole(_ request: MinimalRequest, _ body: AdministerRequest) {
        let owner = SwiftText.literal(request.request.database.owner)
        switch body {
        case .purgeZone(let ordinal):
            add("try store.console.purgeZone(\(zone(request.request.names.zone(ordinal))), of: \(owner))")
        case .resetEncryptedData: add("try store.console.resetEncryptedData(of: \(owner))")
        case .setQuota(let bytes, let user):
            add("try store.console.setQuota(bytes: \(bytes), of: \(SwiftText.literal(user)))")
        case .addAddress(let address, let user):
            add("try store.console.addAddress(\(SwiftText.literal(address)), to: \(SwiftText.literal(user)))")
        case .setRole(let role, let users):
            let names = users.map(SwiftText.literal).joined(separator: ", ")
            add("try store.console.setRole(\(SwiftText.literal(role)), of: [\(names)])")
        case .setPerson(let person, let user, _): writePerson(person, user)
        default: leaveOut("the action of the service in commit \(request.offset)")
        }
    }

    // MARK: Names

    /// Returns the variable of a database; nil for one that a container of the actor does not have.
    mutating func database(_ database: DatabaseID, of actor: Actor) -> String? {
        let isOwn = database.owner.isEmpty || ExactName(text: database.owner) == ExactName(text: actor.user)
        guard database.scope == .public || isOwn, actor != .service else { return nil }
        let property =
            switch database.scope {
            case .public: "publicCloudDatabase"
            case .private: "privateCloudDatabase"
            case .shared: "sharedCloudDatabase"
            }
        let key = "database \(actor.user)\u{0}\(actor.device)\u{0}\(property)"
        if let known = declared[key] { return known }
        let device = actor.device == "default" ? "" : actor.device
        let suffix = database.scope == .private ? "" : database.scope == .public ? "public" : "shared"
        let variable = names.variable(actor.user, device, suffix)
        call("let \(variable) = store.container", Self.arguments(of: actor), suffix: ".\(property)")
        declared[key] = variable
        return variable
    }

    /// The arguments that choose an actor's container.
    static func arguments(of actor: Actor) -> [String] {
        var arguments = ["user: \(SwiftText.literal(actor.user))"]
        if actor.device != "default", !actor.device.isEmpty {
            arguments.append("device: \(SwiftText.literal(actor.device))")
        }
        return arguments
    }

    private mutating func zone(_ id: ZoneID?) -> String {
        let (name, owner) = (id?.name ?? "", id?.owner ?? "")
        if name == ZoneID.defaultName, owner.isEmpty { return "CKRecordZone.ID.default" }
        let key = "zone \(name)\u{0}\(owner)"
        if let known = declared[key] { return known }
        let variable = names.variable(owner.isEmpty ? "" : "shared", name)
        var arguments = ["zoneName: \(SwiftText.literal(name))"]
        if !owner.isEmpty { arguments.append("ownerName: \(SwiftText.literal(owner))") }
        call("let \(variable) = CKRecordZone.ID", arguments)
        declared[key] = variable
        return variable
    }

    /// Returns the variable of a record's ID.
    ///
    /// - Parameter variableName: the first part of the variable's name; by default that of the record.
    mutating func record(_ name: String, in zoneID: ZoneID?, named variableName: String? = nil) -> String {
        let owner = zoneID?.owner ?? ""
        let key = "record \(zoneID?.name ?? "")\u{0}\(owner)\u{0}\(name)"
        if let known = declared[key] { return known }
        let zone = zone(zoneID)
        let variable = names.variable(owner.isEmpty ? "" : "shared", variableName ?? name, "ID")
        call("let \(variable) = CKRecord.ID", ["recordName: \(SwiftText.literal(name))", "zoneID: \(zone)"])
        declared[key] = variable
        return variable
    }

    // MARK: Expectation

    mutating func writeExpectation(isKnownIssue: Bool) {
        let question = history.question
        lines.append("")
        add("// This must not happen")
        let owner = question.database.owner.isEmpty ? question.actor.user : question.database.owner
        let asker = history.requests.last { isSameText($0.actor.user, owner) }?.actor ?? Actor(user: owner)
        let anybody = history.requests.last { $0.actor != .service }?.actor ?? Actor(user: "anna")
        let isPublic = question.database.scope == .public
        let database =
            database(DatabaseID(question.database.scope), of: isPublic ? anybody : asker) ?? "nobody"
        let zone = question.zone.map { self.zone($0) }
        lines += SwiftText.assignment(of: predicate, to: "let question", Self.indentation)
        call(
            "let query = CKQuery",
            ["recordType: \(SwiftText.literal(question.type))", "predicate: NSPredicate(format: question)"])
        let zoneArgument = zone.map { ", inZoneWith: \($0)" } ?? ""
        add("let answer = try await \(database).records(matching: query\(zoneArgument))")
        add("let names = answer.matchResults.map(\\.0.recordName)")
        var expected = "!names.isEmpty"
        if let record = question.record { expected = "names.contains(\(SwiftText.literal(record)))" }
        add("let isFound = \(expected)")
        let expectation = "#expect(!isFound, \"a record matches \\(question)\")"
        add(isKnownIssue ? "withKnownIssue { \(expectation) }" : expectation)
    }
}
