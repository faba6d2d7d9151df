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
    var maximumMoves = 100_000

    private let view: RulesView
    private let zone: UInt64
    /// The parents after the change of the records that are new or get another parent; nil for none.
    private var parents: [RecordKey: String?] = [:]
    /// The records with such a parent. Zone 0 is the hierarchy's own zone, as in all keys.
    private var newChildren: [RecordKey: [String]] = [:]
    private var created: Set<RecordKey> = []
    private var newRoots: [RecordKey: Share] = [:]
    private var ended: Set<UInt64> = []
    private var gone: Set<RecordKey> = []
    /// The stored records whose subtrees may come under another share.
    private(set) var moved: [String] = []
    /// The shares of records after the change, as far as they were determined.
    private var known: [RecordKey: Share?] = [:]
    private var roots: [UInt64: String?] = [:]

    init(_ view: RulesView, zone: UInt64) {
        self.view = view
        self.zone = zone
    }

    static func key(_ name: String) -> RecordKey { RecordKey(zone: 0, name: name) }

    private func stored(_ name: String) -> RecordKey { RecordKey(zone: zone, name: name) }

    // MARK: The change

    mutating func create(_ name: String, under parent: String?) {
        created.insert(Self.key(name))
        setParent(parent, of: name)
    }

    mutating func move(_ name: String, under parent: String?) {
        moved.append(name)
        setParent(parent, of: name)
    }

    private mutating func setParent(_ parent: String?, of name: String) {
        parents[Self.key(name)] = .some(parent)
        if let parent { newChildren[Self.key(parent), default: []].append(name) }
    }

    mutating func begin(_ share: Share, at root: String) {
        newRoots[Self.key(root)] = share
        if !created.contains(Self.key(root)) { moved.append(root) }
    }

    mutating func end(_ share: UInt64) throws {
        guard ended.insert(share).inserted, let root = try root(of: share) else { return }
        moved.append(root)
    }

    mutating func delete(_ name: String) { gone.insert(Self.key(name)) }

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
        created.contains(Self.key(name)) ? nil : try view.fold.fork.hierarchicalShare(of: stored(name))
    }

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
            if let parent = parents[key] {
                next = parent
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

    /// Returns a record and those below it after the change, without those under roots of their own, and the first such
    /// root.
    ///
    /// - Throws: ``Refusal`` if there are too many.
    mutating func subtree(of name: String) throws -> (names: [String], root: String?) {
        var names = [name]
        var seen: Set<RecordKey> = [Self.key(name)]
        var root: String?
        var next = 0
        while next < names.count {
            for child in try children(of: names[next]) where seen.insert(Self.key(child)).inserted {
                if try shareAsRoot(child) != nil {
                    root = root ?? child
                    continue
                }
                names.append(child)
            }
            try checkMoves(names.count, below: name)
            next += 1
        }
        return (names, root)
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

    private func children(of name: String) throws -> [String] {
        let new = newChildren[Self.key(name)] ?? []
        if created.contains(Self.key(name)) { return new }
        let stored = try view.linkedRecords(to: stored(name)).children.filter { child in
            parents[Self.key(child)] == nil && !gone.contains(Self.key(child))
        }
        return stored + new
    }
}
