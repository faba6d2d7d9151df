import StrataModel
import StrataRules
import StrataStore
import StrataViews

/// Writes the records of an export into a new store, as if a user saved them.
struct RecordImport {
    /// The number of records in a batch. A batch also ends at its maximum number of bytes in lines.
    private static let batchCount = 100
    private static let batchBytes = 1 << 20

    private let header: ExportHeader
    private let lines: LineReader
    private let actor: Actor
    private let recordName: () throws -> String
    private let modify: (Request) throws -> RequestResult
    /// Nil if shares cannot be made.
    private var shares: ShareImport?

    /// The database and zone of the current records.
    private var place: (database: DatabaseID, zone: ZoneID) = (DatabaseID(.public), ZoneID(""))
    /// The owner of the private database with records in the export; nil until one is read.
    private var owner: String?
    /// The owner of the current private zone, and the name of the owner's record.
    private var zoneOwner: (name: String, recordName: String?)?
    private var batch: [Pending] = []
    private var batchedBytes = 0
    /// The names saved in the current zone, and the records that wait for their parent, by its name.
    private var saved: Set<ExactName> = []
    private var orphans: [ExactName: [Pending]] = [:]
    private var count: UInt64 = 0

    /// A record to be saved. The ordinals in its values are those of a request for its zone alone.
    private struct Pending {
        let name: String
        let type: String
        var parent: String?
        let fields: [(key: String, value: FieldValue)]
        let byteCount: Int
    }

    /// The zone's ordinal in every request.
    private static let zoneOrdinal: UInt64 = 1

    init(_ header: ExportHeader, _ lines: LineReader, into store: Store, as actor: Actor) {
        self.init(header, lines, as: actor, named: { try store.snapshot().recordName(of: actor.user) }) {
            try store.modify($0, as: actor).result
        }
        shares = ShareImport(into: store, as: actor)
    }

    /// - Parameters:
    ///   - recordName: returns the name of the actor's own record.
    ///   - modify: saves the records of one request.
    init(
        _ header: ExportHeader, _ lines: LineReader, as actor: Actor, named recordName: @escaping () throws -> String,
        modify: @escaping (Request) throws -> RequestResult
    ) {
        (self.header, self.lines, self.actor) = (header, lines, actor)
        (self.recordName, self.modify) = (recordName, modify)
    }

    /// - Throws: ``Refusal`` for records that cannot be saved.
    mutating func run() throws -> UInt64 {
        var end: ExportEnd?
        while end == nil {
            guard let found = try lines.next({ try read($0) }) else {
                throw lines.truncation
            }
            end = found
        }
        try endZone()
        try shares?.run(owner)
        guard end?.count == count else {
            throw lines.disorder("\(end?.count ?? 0) records", found: "\(count)")
        }
        return count
    }

    // MARK: Lines

    /// Returns the end of the export, if the line is that.
    private mutating func read(_ line: UnsafeRawBufferPointer) throws -> ExportEnd? {
        var reader = JSONReader(line)
        var first: String?
        var end: ExportEnd?
        try reader.readObject { key, reader in
            first = first ?? key
            if var known = end {
                try known.read(key, &reader)
                end = known
            } else if key == "end" {
                end = try ExportEnd(behindKey: &reader)
            } else {
                try reader.skip()
            }
        }
        try reader.expectEnd()
        if let end { return end }
        switch first {
        case "zone": try beginZone(line)
        case "record": try add(line)
        case "user": try addPerson(line)
        default: throw reader.error("a zone, a record, a user, or the end")
        }
        return nil
    }

    private mutating func beginZone(_ line: UnsafeRawBufferPointer) throws {
        try endZone()
        var (zone, database, owner, scope) = ("", "", "", "record")
        var ownerRecord: String?
        var reader = JSONReader(line)
        try reader.readObject { key, reader in
            switch key {
            case "zone": zone = try reader.readString()
            case "database": database = try reader.readString()
            case "owner": owner = try reader.readString()
            case "ownerRecord": ownerRecord = try reader.readString()
            case "encryptionScope": scope = try reader.readString()
            default: try reader.skip()
            }
        }
        guard ["public", "private"].contains(database) else { throw reader.error("a public or private database") }
        zoneOwner = database == "private" ? (owner, ownerRecord) : nil
        if let ownerRecord, isSameText(owner, actor.user) { try shares?.nameOwner(ownerRecord) }
        place = (DatabaseID(database == "public" ? .public : .private), ZoneID(zone))
        guard !place.zone.isDefault else { return }
        try requireOneOwner()
        let request = Request.zones(
            saving: [place.zone], encryptionScope: scope == "zone" ? .zone : .record, in: place.database)
        try require(try modify(request).saves, of: [zone])
    }

    /// The default zones of participants, who own no records, are not saved.
    private mutating func requireOneOwner() throws {
        guard let owner = zoneOwner else { return }
        if let known = self.owner, !isSameText(known, owner.name) {
            throw Refusal(
                .invalidArguments,
                "the export has private records of \(known) and of \(owner.name); they cannot all be \(actor.user)'s")
        }
        if self.owner == nil, let recordName = owner.recordName { try shares?.nameOwner(recordName) }
        self.owner = owner.name
    }

    private mutating func add(_ line: UnsafeRawBufferPointer) throws {
        var (name, type, parent, creator): (String?, String?, String?, String?) = (nil, nil, nil, nil)
        var (share, sharing): (String?, ShareState?) = (nil, nil)
        var fields: [(key: String, value: FieldValue)] = []
        var reader = JSONReader(line)
        do {
            try reader.readObject { key, reader in
                switch key {
                case "record": name = try reader.readString()
                case "type": type = try reader.readString()
                case "parent": parent = try reader.readString()
                case "createdBy": creator = try reader.readString()
                case "share": share = try reader.readString()
                case "sharing": sharing = try ShareState(reading: &reader)
                case "fields":
                    try reader.readObject { key, reader in
                        fields.append((key, try ExportedValue.read(&reader, zone: Self.zoneOrdinal)))
                    }
                default: try reader.skip()
                }
            }
        } catch let error as StrataError
            where [.assetNotAvailable, .keyMissing, .invalidArgument].contains(error.code)
        {
            throw Refusal(.invalidArguments, "record '\(name ?? "")' cannot be saved as it was: \(error.message)")
        }
        guard let name, let type else { throw reader.error("a record with name and type") }
        if type == UserRecord.type, fields.isEmpty {
            // Every store creates the records of its users itself.
            count += 1
            return
        }
        try requireOneOwner()
        if type == ShareState.recordType || share != nil || sharing != nil { try requireShares(name, type, sharing) }
        let id = RecordID(name, zone: place.zone)
        if let sharing {
            count += 1
            shares?.add(ShareImport.Pending(id: id, fields: fields, state: sharing))
            return
        }
        if let share { shares?.add(linkOf: id, to: share) }
        // Every user creates the user's own record.
        let isOwn = type == UserRecord.type && creator.map { isSameText($0, owner ?? actor.user) } ?? false
        let newName = isOwn ? try recordName() : name
        try add(Pending(name: newName, type: type, parent: parent, fields: fields, byteCount: line.count))
    }

    /// - Throws: ``Refusal`` unless shares can be made, and the record has what is needed for it.
    private func requireShares(_ name: String, _ type: String, _ sharing: ShareState?) throws {
        let isShare = type == ShareState.recordType
        let reason =
            if !isShare, sharing != nil {
                "it has participants, and is not a share"
            } else if shares == nil {
                isShare ? "it is a share, which only 'strata import' makes again" : "it belongs to a share"
            } else if isShare, sharing == nil {
                "it is a share without its participants; export the records again"
            } else if place.database.scope != .private {
                "only private records are shared"
            } else {
                nil as String?
            }
        guard let reason else { return }
        throw Refusal(.invalidArguments, "record '\(name)' cannot be saved as it was: \(reason)")
    }

    private mutating func addPerson(_ line: UnsafeRawBufferPointer) throws {
        var user = ""
        var recordName: String?
        var person = Person()
        var reader = JSONReader(line)
        try reader.readObject { key, reader in
            switch key {
            case "user": user = try reader.readString()
            case "recordName": recordName = try reader.readString()
            case "emails": try reader.readArray { person.emails.append(try $0.readString()) }
            case "phones": try reader.readArray { person.phones.append(try $0.readString()) }
            case "nameParts":
                try reader.readObject { key, reader in
                    guard let path = Self.nameParts[key] else { return try reader.skip() }
                    person[keyPath: path] = try reader.readString()
                }
            default: try reader.skip()
            }
        }
        shares?.add(person, named: user, recordName)
    }

    private static let nameParts: [String: WritableKeyPath<Person, String> & Sendable] = [
        "namePrefix": \.namePrefix, "givenName": \.givenName, "middleName": \.middleName,
        "familyName": \.familyName, "nameSuffix": \.nameSuffix, "nickname": \.nickname,
    ]

    // MARK: Saving

    private mutating func add(_ record: Pending) throws {
        count += 1
        if let parent = record.parent.map({ ExactName(text: $0) }), !saved.contains(parent) {
            orphans[parent, default: []].append(record)
            return
        }
        var ready = [record]
        while let next = ready.popLast() {
            let name = ExactName(text: next.name)
            saved.insert(name)
            batch.append(next)
            batchedBytes += next.byteCount
            if batch.count >= Self.batchCount || batchedBytes >= Self.batchBytes { try save() }
            ready += orphans.removeValue(forKey: name) ?? []
        }
    }

    private mutating func endZone() throws {
        try save()
        try adoptPublicOrphans()
        let waiting = Set(orphans.values.joined().map { ExactName(text: $0.name) })
        if let (parent, children) = orphans.first(where: { !waiting.contains($0.key) }) ?? orphans.first,
            let child = children.first
        {
            throw Refusal(
                .invalidArguments,
                "record '\(child.name)' has the parent '\(parent.text)', which the export does not have in its zone")
        }
        saved.removeAll()
    }

    /// Saves records of the public database whose loose parent is gone, without that parent.
    private mutating func adoptPublicOrphans() throws {
        guard place.database.scope == .public else { return }
        let waiting = Set(orphans.values.joined().map { ExactName(text: $0.name) })
        for parent in orphans.keys.filter({ !waiting.contains($0) }).sorted(by: { $0.text < $1.text }) {
            for var child in orphans.removeValue(forKey: parent) ?? [] {
                let note = "record '\(child.name)' is saved without its parent '\(parent.text)', which is gone"
                Diagnostics.note(Printable.escaped(note), by: ImportCommand.name)
                child.parent = nil
                count -= 1
                try add(child)
            }
        }
        try save()
    }

    private mutating func save() throws {
        guard !batch.isEmpty else { return }
        var names = RequestNames()
        let zone = names.ordinal(of: place.zone)
        var body = ModifyRecordsRequest(policy: .allKeys, isAtomic: false)
        for record in batch {
            var save = ModifyRecordsRequest.Save(
                RecordKey(zone: zone, name: record.name), type: names.ordinal(ofType: record.type))
            if let parent = record.parent { save.parent = .set(RecordKey(zone: zone, name: parent)) }
            for field in record.fields {
                save.fields.append(FieldChange(names.ordinal(ofKey: field.key), field.value))
            }
            save.fields.sort { $0.field < $1.field }
            body.saves.append(save)
        }
        let request = Request(database: place.database, names: names, .modifyRecords(body))
        try require(try modify(request).saves, of: batch.map(\.name))
        batch.removeAll(keepingCapacity: true)
        batchedBytes = 0
    }

    private func require(_ results: [Result<Version, Refusal>], of names: [String]) throws {
        for (result, name) in zip(results, names) {
            if case .failure(let refusal) = result {
                throw Refusal(refusal.code, "'\(name)' cannot be saved as it was: \(refusal.message)")
            }
        }
    }
}
