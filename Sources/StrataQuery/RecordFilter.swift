import StrataModel
import StrataTree
import StrataViews

/// A predicate made ready for many records: common comparisons look at the encoded values, all others have them
/// decoded first.
indirect enum RecordFilter {
    case constant(Bool)
    case all([RecordFilter])
    case any([RecordFilter])
    case not(RecordFilter)
    case test(FieldTest, otherwise: PredicateComparison)
    case general(PredicateComparison)

    /// - Parameter tree: as ``PredicateBinder`` gives it.
    init(_ tree: PredicateTree, _ scene: QueryScene) throws {
        switch tree {
        case .constant(let isTrue): self = .constant(isTrue)
        case .and(let parts): self = .all(try parts.map { try RecordFilter($0, scene) })
        case .or(let parts): self = .any(try parts.map { try RecordFilter($0, scene) })
        case .not(let part): self = .not(try RecordFilter(part, scene))
        case .comparison(let comparison):
            self =
                try FieldTest(comparison, scene).map { .test($0, otherwise: comparison) } ?? .general(comparison)
        }
    }
}

/// What can be said against a record from its fields alone, without its key: a scan asks this first.
struct RecordProbe {
    /// All of them must come out like that.
    private var tests: [(test: FieldTest, isWanted: Bool)] = []

    init(_ filter: RecordFilter) { gather(filter) }

    private mutating func gather(_ filter: RecordFilter) {
        switch filter {
        case .test(let test, _): tests.append((test, true))
        case .not(.test(let test, _)): tests.append((test, false))
        case .all(let parts): for part in parts { gather(part) }
        case .constant, .any, .not, .general: break
        }
    }

    /// Whether the whole predicate is worth asking.
    func mayHold(_ table: FieldTable, _ bytes: UnsafeRawBufferPointer) throws -> Bool {
        for (test, isWanted) in tests {
            if let holds = try test.holds(table, bytes), holds != isWanted { return false }
        }
        return true
    }
}

/// Asks records whether a predicate holds for them.
struct RecordJudge {
    let scene: QueryScene
    let filter: RecordFilter
    private let failure = RecordSubject.Failure()

    init(_ tree: PredicateTree, _ scene: QueryScene) throws {
        self.scene = scene
        filter = try RecordFilter(tree, scene)
    }

    func holds(_ key: UnsafeRawBufferPointer, _ view: RecordStateView, _ bytes: UnsafeRawBufferPointer) throws -> Bool {
        if case .constant(let isTrue) = filter { return isTrue }
        let holds = try holds(filter, try view.fields(), key, view, bytes)
        if let error = failure.error {
            failure.error = nil
            throw error
        }
        return holds
    }

    private func holds(
        _ filter: RecordFilter, _ table: FieldTable, _ key: UnsafeRawBufferPointer, _ view: RecordStateView,
        _ bytes: UnsafeRawBufferPointer
    ) throws -> Bool {
        switch filter {
        case .constant(let isTrue): return isTrue
        case .all(let parts):
            for part in parts where !(try holds(part, table, key, view, bytes)) { return false }
            return true
        case .any(let parts):
            for part in parts where try holds(part, table, key, view, bytes) { return true }
            return false
        case .not(let part): return !(try holds(part, table, key, view, bytes))
        case .test(let test, let comparison):
            if let holds = try test.holds(table, bytes) { return holds }
            return general(comparison, key, view, bytes)
        case .general(let comparison): return general(comparison, key, view, bytes)
        }
    }

    private func general(
        _ comparison: PredicateComparison, _ key: UnsafeRawBufferPointer, _ view: RecordStateView,
        _ bytes: UnsafeRawBufferPointer
    ) -> Bool {
        let subject = RecordSubject(scene: scene, key: key, view: view, bytes: bytes, failure: failure)
        return PredicateEvaluator(subject: subject, now: scene.now).holds(.comparison(comparison))
    }
}
