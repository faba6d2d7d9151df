import CloudKit

/// A program that keeps notes on a device and syncs them, as programs do: a cache and a change token on disk, system
/// fields archived beside a record's values, conflicts merged three ways.
actor SyncClient {
    private struct Cache: Codable {
        var notes: [String: CachedNote] = [:]
        /// Archived.
        var token: Data?
    }

    static let zone = CKRecordZone.ID(zoneName: "Notes")
    /// After these it tries again later.
    static let retryable: Set<CKError.Code> = [
        .networkFailure, .networkUnavailable, .serviceUnavailable, .requestRateLimited, .zoneBusy, .serverResponseLost,
    ]

    private let file: URL
    private let database: CKDatabase
    private let source: ChangeSource
    /// The canary: a client that thinks that a conflict was a success.
    private let ignoresConflicts: Bool
    private var cache: Cache

    /// Whatever an earlier client left in the file is gone on with.
    init(
        file: URL, database: CKDatabase, source: ChangeSource, ignoresConflicts: Bool = false
    ) throws {
        self.file = file
        self.database = database
        self.source = source
        self.ignoresConflicts = ignoresConflicts
        cache = Cache()
        if FileManager.default.fileExists(atPath: file.path) {
            cache = try JSONDecoder().decode(Cache.self, from: Data(contentsOf: file))
        }
    }

    private func persist() throws { try JSONEncoder().encode(cache).write(to: file) }

    // MARK: What its user does and sees

    var notes: [String: [String: Int]] { cache.notes.filter { !$0.value.isDeleted }.mapValues(\.values) }

    var isDirty: Bool { cache.notes.values.contains { $0.isDirty } }

    /// Nil removes the value.
    func set(_ value: Int?, forKey key: String, of name: String) throws {
        var note = cache.notes[name] ?? CachedNote()
        guard !note.isDeleted else { return }
        note.values[key] = value
        cache.notes[name] = note
        try persist()
    }

    func delete(_ name: String) throws {
        guard cache.notes[name] != nil else { return }
        if cache.notes[name]?.system == nil { cache.notes[name] = nil } else { cache.notes[name]?.isDeleted = true }
        try persist()
    }

    // MARK: Sending

    func push(atomically: Bool, inOperation: Bool) async throws {
        let dirty = cache.notes.filter(\.value.isDirty).sorted { $0.key < $1.key }
        let saves = try dirty.filter { !$0.value.isDeleted }.map { try $0.value.record(id($0.key)) }
        let deletes = dirty.filter(\.value.isDeleted).map { id($0.key) }
        guard !dirty.isEmpty else { return }
        let request = SyncRequest(saves: saves, deletes: deletes, isAtomic: atomically)
        let answer = try await inOperation ? request.run(in: database) : request.call(database)
        var lost: CKError.Code?
        for (id, result) in answer.saves {
            switch result {
            case .success(let record): accept(record)
            case .failure(let error): lost = try refuse(id, error) ?? lost
            }
        }
        for (id, result) in answer.deletes {
            switch result {
            case .success: cache.notes[id.recordName] = nil
            case .failure(let error): lost = try refuse(id, error) ?? lost
            }
        }
        if let lost { try await restoreZone(after: lost) }
        try persist()
    }

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: Self.zone) }

    private func accept(_ record: CKRecord) {
        // Others may have changed other keys in between, which the answer has too.
        cache.notes[record.recordID.recordName]?.replace(with: record)
    }

    /// Returns why the zone is gone, if that is what is wrong.
    private func refuse(_ id: CKRecord.ID, _ error: any Error) throws -> CKError.Code? {
        let name = id.recordName
        guard let error = error as? CKError else { throw error }
        switch error.code {
        case .serverRecordChanged:
            guard let server = error.serverRecord, let ancestor = error.ancestorRecord,
                let client = error.clientRecord, client.recordID == id
            else { throw CKError(.internalError, userInfo: [NSUnderlyingErrorKey: error]) }
            guard ancestor.values == cache.notes[name]?.base else { throw WrongAncestor(of: ancestor) }
            if ignoresConflicts {
                let mine = cache.notes[name]?.values ?? [:]
                cache.notes[name]?.keep(server)
                cache.notes[name]?.values = mine
                cache.notes[name]?.base = mine
            } else {
                cache.notes[name]?.merge(with: server)
            }
        // Somebody deleted what was edited here: the edit wins.
        case .unknownItem: cache.notes[name]?.forgetStore()
        case .batchRequestFailed: break
        case let code where Self.retryable.contains(code): break
        case .zoneNotFound, .userDeletedZone: return error.code
        default: throw error
        }
        return nil
    }

    /// The conflict was made of another version than the one that this device began with.
    struct WrongAncestor: Error, CustomStringConvertible {
        let description: String
        init(of record: CKRecord) { description = "not the version that the edit began with: \(record)" }
    }

    /// Makes the zone again: with all that is known here, or empty if its user wanted it gone.
    private func restoreZone(after code: CKError.Code) async throws {
        cache.token = nil
        if code == .userDeletedZone { cache.notes = [:] }
        cache.notes = cache.notes.filter { !$0.value.isDeleted }
        for name in cache.notes.keys { cache.notes[name]?.forgetStore() }
        try persist()
        try await database.save(CKRecordZone(zoneID: Self.zone))
    }

    // MARK: Receiving

    func pull() async throws {
        do {
            let token = try cache.token.map {
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: $0)
            }
            let changes = try await source.changes(in: Self.zone, since: token ?? nil)
            if cache.token == nil { forgetUnlisted(changes.changed) }
            for event in changes.events {
                switch event {
                case .changed(let record): take(record)
                case .deleted(let id): remove(id.recordName)
                }
            }
            cache.token = try changes.token.map {
                try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true)
            }
            try persist()
        } catch CKError.changeTokenExpired {
            cache.token = nil
            try persist()
            try await pull()
        } catch let error as CKError where error.code == .zoneNotFound || error.code == .userDeletedZone {
            try await restoreZone(after: error.code)
        }
    }

    private func take(_ record: CKRecord) {
        let name = record.recordID.recordName
        guard let known = cache.notes[name] else {
            cache.notes[name] = CachedNote()
            return accept(record)
        }
        let isKnown = (try? known.record(record.recordID).recordChangeTag) == record.recordChangeTag
        if isKnown || known.isDeleted { return }
        cache.notes[name]?.merge(with: record)
    }

    /// What was edited here since comes back as a new note.
    private func remove(_ name: String) {
        guard let note = cache.notes[name] else { return }
        if note.isDeleted || !note.isDirty { cache.notes[name] = nil } else { cache.notes[name]?.forgetStore() }
    }

    /// From the start on a feed does not tell what was deleted: it is not listed.
    private func forgetUnlisted(_ records: [CKRecord]) {
        let listed = Set(records.map(\.recordID.recordName))
        for (name, note) in cache.notes where note.system != nil && !listed.contains(name) { remove(name) }
    }
}
