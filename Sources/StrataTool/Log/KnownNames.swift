import StrataModel

/// The names that a log maps to ordinals, as far as they have been seen: where it is compacted or damaged, those that
/// are left.
struct KnownNames {
    private var table = NameTable()

    func user(_ ordinal: UInt64) -> String? { name(.user, ordinal) }
    func device(_ ordinal: UInt64) -> String? { name(.device, ordinal) }
    func zone(_ ordinal: UInt64) -> String? { name(.zone, ordinal) }
    func recordType(_ ordinal: UInt64) -> String? { name(.recordType, ordinal) }
    func field(_ ordinal: UInt64) -> String? { name(.field, ordinal) }

    /// Returns a name; nil if it is unknown, and for a database.
    func name(_ namespace: Namespace, _ ordinal: UInt64) -> String? { table.name(namespace, ordinal)?.text }

    func database(ofZone ordinal: UInt64) -> UInt64? {
        guard case .zone(let database, _, _)? = table.name(.zone, ordinal) else { return nil }
        return database
    }

    /// Returns a zone's database, as far as the zone and the database's owner are known.
    func databaseID(ofZone ordinal: UInt64) -> DatabaseID? { database(ofZone: ordinal).flatMap { database($0) } }

    /// Returns the database with its owner by name; nil if it or its owner is unknown.
    func database(_ ordinal: UInt64) -> DatabaseID? {
        guard case .database(let scope, let owner)? = table.name(.database, ordinal) else { return nil }
        return owner == 0 ? DatabaseID(scope) : user(owner).map { DatabaseID(scope, owner: $0) }
    }

    /// All zones in order of their ordinals.
    var zones: [(ordinal: UInt64, name: String)] {
        table.names(in: .zone).map { ($0.ordinal, $0.name.text ?? "") }
    }

    /// All names of a namespace.
    func names(in namespace: Namespace) -> [String] { table.names(in: namespace).compactMap(\.name.text) }

    mutating func add(_ interned: InternedName) { table.collect(interned) }

    /// Adds the names that a payload interns. A payload that is not an envelope has none.
    mutating func add(from payload: ArraySlice<UInt8>) { InternedName.forEach(in: payload) { add($0) } }
}

extension KnownNames {
    /// Returns a message for a name that nothing has; nil for one that is known, and for none.
    func problem(_ what: String, _ name: String?, _ namespace: Namespace, others: [String] = []) -> String? {
        guard let name else { return nil }
        let known = names(in: namespace) + others
        if known.contains(where: { LogFilter.isSame($0, name) }) { return nil }
        let suggestion = Suggestion.closest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
        return "no \(what) is named '\(name)'" + suggestion
    }
}

/// Names for display, escaped. A name that is not known is shown by its ordinal.
extension KnownNames {
    func shownUser(_ ordinal: UInt64) -> String { shown(.user, ordinal) }
    func shownDevice(_ ordinal: UInt64) -> String { shown(.device, ordinal) }
    func shownZone(_ ordinal: UInt64) -> String { shown(.zone, ordinal) }
    func shownType(_ ordinal: UInt64) -> String { shown(.recordType, ordinal) }
    func shownField(_ ordinal: UInt64) -> String { shown(.field, ordinal) }

    func shown(_ namespace: Namespace, _ ordinal: UInt64) -> String {
        name(namespace, ordinal).map { Printable.escaped($0) } ?? "\(namespace.key) \(ordinal)"
    }

    /// Returns an empty text for an unknown database.
    func shownDatabase(ofZone ordinal: UInt64) -> String { databaseID(ofZone: ordinal)?.shownText ?? "" }

    /// Returns a zone with its database, since several users may have zones of one name.
    func shownPlace(ofZone ordinal: UInt64) -> String {
        shownZone(ordinal) + (databaseID(ofZone: ordinal).map { " (\($0.shownText))" } ?? "")
    }

    /// Returns `anna on phone`, or the name that stands for the system.
    func actorText(_ user: UInt64, _ device: UInt64) -> String {
        (user == 0 ? LogFilter.systemName : shownUser(user)) + (device == 0 ? "" : " on " + shownDevice(device))
    }
}

extension KnownNames {
    /// Adds the names that were interned before `offset`, and returns the first damage. Damaged segments are skipped:
    /// commits after the damage still get the names from the rest.
    /// - Parameter newest: the names of the newest segment, if they are known.
    mutating func addAll(
        of store: StoreAccess, before offset: UInt64, newest: [InternedName]? = nil
    ) throws -> StrataError? {
        var damage: StrataError?
        do { try addBase(of: store) } catch let error as StrataError where error.isDamage { damage = error }
        guard offset > store.reader.floor.offset + 1 else { return damage }
        for segment in store.reader.segments where segment.firstOffset < offset {
            do {
                // Sealed segments list their names.
                if let names = try store.reader.names(of: segment) ?? (segment.isClosed ? nil : newest) {
                    for name in names { add(name) }
                    continue
                }
                var source = try CommitSource(store, from: segment.firstOffset)
                let limit = min(offset - 1, segment.lastOffset ?? 0)
                while let commit = try source.next() {
                    add(from: commit.payload)
                    if commit.offset >= limit { break }
                }
                damage = damage ?? source.store.damage
            } catch let error as StrataError where error.isDamage { damage = damage ?? error }
        }
        return damage
    }

    /// A base begins with all names of the compacted history.
    private mutating func addBase(of store: StoreAccess) throws {
        guard var base = try store.reader.readBase() else { return }
        while let payload = try base.next() {
            add(from: payload)
            let kinds = try Envelope(decoding: payload).events.map(\.kind)
            if kinds.last != .nameInterned { return }
        }
    }
}

extension InternedName {
    /// Calls `body` with the names that a payload interns. One that is not an envelope has none.
    static func forEach(in payload: ArraySlice<UInt8>, _ body: (InternedName) -> Void) {
        _ = payload.withUnsafeBytes { bytes in
            try? Envelope.touches(
                of: bytes, where: { _ in false },
                names: { place in
                    if let name = try? InternedName(decoding: ArraySlice(bytes[place])) { body(name) }
                })
        }
    }
}
