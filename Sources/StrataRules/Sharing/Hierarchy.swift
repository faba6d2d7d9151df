import StrataModel
import StrataViews

/// The hierarchical shares of one zone after a change: a record belongs to the share of its root, found through its
/// parents (docs/rules.md §16).
///
/// The state says in which share each stored record is before the change. Only if a stored record gets another parent,
/// or if a share begins or ends, are the parents of other records followed.
struct Hierarchy {
    /// A share that exists after the change.
    enum Share: Hashable {
        case stored(UInt64)
        /// The share that the request creates by the save of this index.
        case new(Int)
    }

    /// The maximum number of records whose visibility one commit changes.
    private let maximumMoves: Int

    private let view: RulesView
    private let zone: UInt64
    /// A record that is new or gets another parent.
    private struct Placed {
        let name: String
        /// Nil for none.
        let parent: String?
        let isNew: Bool
    }

    /// The placed records, by name. Zone 0 is the hierarchy's own zone, as in all keys.
    private var placed: [RecordKey: Placed] = [:]
    /// The placed records that have a parent, in order.
    private var placedChildren: [Placed] = []
    /// The same by parent, once they are needed.
    private var childrenByParent: [RecordKey: [Placed]]?
    private var newRoots: [RecordKey: Share] = [:]
    private var ended: Set<UInt64> = []
    private var gone: Set<RecordKey> = []
    /// The stored records whose subtrees may come under another share.
    private(set) var moved: [String] = []
    private var movedKeys: Set<RecordKey> = []
    /// The shares of records after the change, as far as they were determined.
    private var known: [RecordKey: Share?] = [:]
    private var roots: [UInt64: String?] = [:]

    init(_ view: RulesView, zone: UInt64, maximumMoves: Int = Limits.service.movedRecords) {
        self.view = view
        self.zone = zone
        self.maximumMoves = maximumMoves
    }

    static func key(_ name: String) -> RecordKey { RecordKey(zone: 0, name: name) }

    private func stored(_ name: String) -> RecordKey { RecordKey(zone: zone, name: name) }

    // MARK: The change

    mutating func create(_ name: String, under parent: String?) {
        place(Placed(name: name, parent: parent, isNew: true))
    }

    /// True if a stored record is in ``moved``.
    func isMoved(_ name: String) -> Bool { movedKeys.contains(Self.key(name)) }

    private mutating func noteMove(of name: String) {
        moved.append(name)
        movedKeys.insert(Self.key(name))
    }

    mutating func move(_ name: String, under parent: String?) {
        noteMove(of: name)
        place(Placed(name: name, parent: parent, isNew: false))
    }

    private mutating func place(_ record: Placed) {
        placed[Self.key(record.name)] = record
        if record.parent == nil { return }
        placedChildren.append(record)
        childrenByParent = nil
    }

    mutating func begin(_ share: Share, at root: String) {
        newRoots[Self.key(root)] = share
        if !isNew(Self.key(root)) { noteMove(of: root) }
    }

    mutating func end(_ share: UInt64) throws {
        guard ended.insert(share).inserted, let root = try root(of: share) else { return }
        noteMove(of: root)
        known.removeAll()
    }

    mutating func delete(_ name: String) {
        gone.insert(Self.key(name))
        known.removeAll()
    }

    private func isNew(_ key: RecordKey) -> Bool { placed[key]?.isNew ?? false }

    // MARK: Before and after

    /// The name of a share's root; nil if the share covers its zone, or does not exist.
    mutating func root(of share: UInt64) throws -> String? {
        if let root = roots[share] { return root }
        let root = try view.fold.fork.share(share)?.root
        roots[share] = .some(root)
        return root
    }

    /// Returns the share of a record before the change.
    func shareBefore(_ name: String) throws -> UInt64? {
        isNew(Self.key(name)) ? nil : try view.fold.fork.hierarchicalShare(of: stored(name))
    }

    /// Returns the shares of a record before and after the change.
    mutating func shares(of name: String) throws -> (before: UInt64?, after: Share?) {
        let key = Self.key(name)
        if let record = placed[key], record.isNew {
            guard newRoots.isEmpty, gone.isEmpty else { return (nil, try share(of: name)) }
            // Most new records have a parent that others have too.
            guard let parent = record.parent else { return (nil, nil) }
            if let share = known[Self.key(parent)] { return (nil, share) }
            return (nil, try share(of: name))
        }
        let before = try view.fold.fork.hierarchicalShare(of: stored(name))
        let isKept = moved.isEmpty && newRoots.isEmpty && gone.isEmpty
        return (before, isKept ? before.map { .stored($0) } : try share(of: name))
    }

    /// Returns true if a record that is saved can be the root of no share.
    func isNoRoot(_ name: String) -> Bool { newRoots.isEmpty && isNew(Self.key(name)) }

    /// Returns the share whose root a record is after the change.
    mutating func shareAsRoot(_ name: String) throws -> Share? {
        if let share = newRoots[Self.key(name)] { return share }
        guard let before = try shareBefore(name), !ended.contains(before), let root = try root(of: before),
            isSameText(root, name)
        else { return nil }
        return .stored(before)
    }

    /// Returns the share that a record belongs to after the change.
    mutating func share(of name: String) throws -> Share? {
        var path: [RecordKey] = []
        var share: Share?
        var next: String? = name
        while let current = next {
            let key = Self.key(current)
            if gone.contains(key) { break }
            if let found = known[key] {
                share = found
                break
            }
            // Until the end of the path is known; parents may form a circle.
            known[key] = .some(nil)
            path.append(key)
            if let root = try shareAsRoot(current) {
                share = root
                break
            }
            if let record = placed[key] {
                next = record.parent
            } else if moved.isEmpty {
                share = try shareBefore(current).map { .stored($0) }
                break
            } else {
                next = try storedParent(of: current)
            }
        }
        for key in path { known[key] = .some(share) }
        return share
    }

    private func storedParent(of name: String) throws -> String? {
        try view.fold.withRecord(stored(name)) { bytes in
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            return try view.links().parent.map { try view.key($0).name }
        } ?? nil
    }

    /// Returns a record and those below it after the change, without those under roots of their own, and these roots.
    ///
    /// - Throws: ``Refusal`` if there are too many.
    mutating func subtree(of name: String) throws -> (names: [String], roots: [String]) {
        var names = [name]
        var seen: Set<RecordKey> = [Self.key(name)]
        var roots: [String] = []
        var next = 0
        while next < names.count {
            for child in try children(of: names[next]) where seen.insert(Self.key(child)).inserted {
                if try shareAsRoot(child) != nil {
                    roots.append(child)
                    continue
                }
                names.append(child)
            }
            try checkMoves(names.count, below: name)
            next += 1
        }
        return (names, roots)
    }

    /// - Throws: ``Refusal`` if there are too many records, counted with those below the named one.
    func checkMoves(_ count: Int, below name: String) throws {
        guard count <= maximumMoves else {
            throw Refusal(
                .limitExceeded,
                "More than \(maximumMoves) records below '\(name)' would come under another share, or under none.",
                rule: .visibilityLimit)
        }
    }

    private mutating func children(of name: String) throws -> [String] {
        let groups = childrenByParent ?? Dictionary(grouping: placedChildren) { Self.key($0.parent ?? "") }
        childrenByParent = groups
        let new = groups[Self.key(name)]?.map(\.name) ?? []
        if isNew(Self.key(name)) { return new }
        let stored = try view.linkedRecords(to: stored(name)).children.filter { child in
            placed[Self.key(child)] == nil && !gone.contains(Self.key(child))
        }
        return stored + new
    }
}
