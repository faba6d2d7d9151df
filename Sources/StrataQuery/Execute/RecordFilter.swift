import StrataModel
import StrataTree

/// A predicate prepared for many records: common comparisons examine encoded values, all others decode them first.
indirect enum RecordFilter {
    case constant(Bool)
    case all([RecordFilter])
    case any([RecordFilter])
    case not(RecordFilter)
    case test(FieldTest, otherwise: PredicateComparison)
    case general(PredicateComparison)

    /// - Parameter tree: a tree from ``PredicateBinder``.
    init(_ tree: PredicateTree, _ scene: QueryContext) throws {
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

/// A quick test of a record's type and one field, without its key. A scan applies it first.
struct RecordProbe {
    private let type: UInt64
    /// A test and its required result; nil if there is no suitable test.
    private let test: (test: FieldTest, isWanted: Bool)?
    private var hint = 0

    init(_ filter: RecordFilter, type: UInt64) {
        self.type = type
        test = Self.test(of: filter)
    }

    private static func test(of filter: RecordFilter) -> (FieldTest, Bool)? {
        switch filter {
        case .test(let test, _): (test, true)
        case .not(.test(let test, _)): (test, false)
        case .all(let parts): parts.lazy.compactMap { Self.test(of: $0) }.first
        case .constant, .any, .not, .general: nil
        }
    }

    /// Returns true if the record has the type, and the test does not exclude it.
    mutating func mayHold(_ state: UnsafeRawBufferPointer) throws -> Bool {
        guard let (test, isWanted) = test else {
            return try RecordStateView(state, in: 0..<state.count).type() == type
        }
        let found = try RecordStateView.look(at: state, for: test.field, hint: &hint)
        guard found.type == type else { return false }
        return try test.holds(found.value, state).map { $0 == isWanted } ?? true
    }
}

/// Decides whether a predicate holds for a record.
struct RecordJudge {
    let scene: QueryContext
    let filter: RecordFilter
    /// The visible records; nil if all of them are, or only they are examined.
    private let visible: VisibleRecords?
    private let failure: PredicateFailure

    /// - Parameter onlyVisible: true if only records that the actor sees will be examined.
    init(
        _ tree: PredicateTree, _ scene: QueryContext, _ budget: ExpressionBudget, onlyVisible: Bool = false
    ) throws {
        self.scene = scene
        visible = onlyVisible || scene.visible?.isWholeZone == true ? nil : scene.visible
        failure = PredicateFailure(budget)
        filter = try RecordFilter(tree, scene)
    }

    func holds(_ key: UnsafeRawBufferPointer, _ view: RecordStateView, _ bytes: UnsafeRawBufferPointer) throws -> Bool {
        if let creator = scene.onlyCreator, try view.header().createdBy != creator { return false }
        if let visible, !(try visible.includes(key, in: scene.trees)) { return false }
        if case .constant(let isTrue) = filter { return isTrue }
        let holds = try holds(filter, in: try view.fields(), key: key, view: view, bytes: bytes)
        try failure.rethrow()
        return holds
    }

    private func holds(
        _ filter: RecordFilter, in table: FieldTable, key: UnsafeRawBufferPointer, view: RecordStateView,
        bytes: UnsafeRawBufferPointer
    ) throws -> Bool {
        switch filter {
        case .constant(let isTrue): return isTrue
        case .all(let parts):
            for part in parts where !(try holds(part, in: table, key: key, view: view, bytes: bytes)) { return false }
            return true
        case .any(let parts):
            for part in parts where try holds(part, in: table, key: key, view: view, bytes: bytes) { return true }
            return false
        case .not(let part): return !(try holds(part, in: table, key: key, view: view, bytes: bytes))
        case .test(let test, let comparison):
            if let holds = try test.holds(table, bytes) { return holds }
            return general(comparison, key: key, view: view, bytes: bytes)
        case .general(let comparison): return general(comparison, key: key, view: view, bytes: bytes)
        }
    }

    private func general(
        _ comparison: PredicateComparison, key: UnsafeRawBufferPointer, view: RecordStateView,
        bytes: UnsafeRawBufferPointer
    ) -> Bool {
        let subject = RecordSubject(scene: scene, key: key, view: view, bytes: bytes, failure: failure)
        return PredicateEvaluator(subject: subject, now: scene.now, failure).answer(.comparison(comparison))
    }
}
