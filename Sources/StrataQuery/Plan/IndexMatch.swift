import StrataModel
import StrataViews

/// The rows of an index with values between two bounds.
struct IndexRange: Hashable, Sendable {
    /// The inclusive lower bound: a kind and value, or a prefix of them.
    var lower: [UInt8]
    /// The exclusive upper bound.
    var upper: [UInt8]

    var isEmpty: Bool { !lower.lexicographicallyPrecedes(upper) }

    /// All rows with this prefix.
    init(beginningWith start: [UInt8]) {
        lower = start
        upper = Self.successor(start)
    }

    init(from lower: [UInt8], to upper: [UInt8]) {
        self.lower = lower
        self.upper = upper
    }

    /// All rows of the index.
    static let all = IndexRange(from: [0], to: [255])
    static let present = IndexRange(from: [IndexKey.Kind.none.rawValue + 1], to: [255])

    /// The lowest bytes after all that have this prefix.
    static func successor(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        while let last = bytes.popLast() {
            if last < 255 { return bytes + [last + 1] }
        }
        return [255]
    }

    /// The intersection of two lists of disjoint ranges in ascending order; the result is one too.
    static func intersection(_ left: [IndexRange], _ right: [IndexRange]) -> [IndexRange] {
        var common: [IndexRange] = []
        var (first, second) = (0, 0)
        while first < left.count, second < right.count {
            let (a, b) = (left[first], right[second])
            let lower = a.lower.lexicographicallyPrecedes(b.lower) ? b.lower : a.lower
            let isFirstShorter = a.upper.lexicographicallyPrecedes(b.upper)
            let range = IndexRange(from: lower, to: isFirstShorter ? a.upper : b.upper)
            if !range.isEmpty { common.append(range) }
            if isFirstShorter { first += 1 } else { second += 1 }
        }
        return common
    }

    /// Merges ranges into disjoint ranges in ascending order.
    static func merged(_ ranges: [IndexRange]) -> [IndexRange] {
        var merged: [IndexRange] = []
        for range in ranges.filter({ !$0.isEmpty }).sorted(by: { $0.lower.lexicographicallyPrecedes($1.lower) }) {
            if let last = merged.last, !last.upper.lexicographicallyPrecedes(range.lower) {
                if last.upper.lexicographicallyPrecedes(range.upper) { merged[merged.count - 1].upper = range.upper }
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}

/// The index rows that correspond to a part of a predicate.
struct IndexMatch: Hashable, Sendable {
    var id: IndexID
    /// Disjoint ranges in ascending order.
    var ranges: [IndexRange]
    /// True if the part of the predicate holds for all records of the rows, so that it need not be evaluated.
    var isExact = true
    /// True if a record may have several rows in the ranges.
    var mayRepeat = false

    /// True if all rows have the same value.
    var isPoint: Bool {
        ranges.count == 1 && !mayRepeat && ranges[0].upper == IndexRange.successor(ranges[0].lower)
            && IndexRow.isWhole(ranges[0].lower)
    }
}

/// Finds the index rows for a comparison, based on the contents of a field's rows (docs/format-keys.md §6).
struct IndexMatcher {
    let scene: QueryContext
    /// The maximum number of values of an IN that are looked up in an index; a longer list is evaluated for each
    /// record.
    private static let maximumValues = 4_096

    /// The rows for a comparison; nil if no index can answer it.
    func match(_ comparison: PredicateComparison) throws -> IndexMatch? {
        guard comparison.options.isEmpty, let (key, relation, value) = Self.parts(of: comparison),
            let subject = try scene.subject(of: key), subject != .system(.recordID), let index = subject.index
        else { return nil }
        let id = IndexID(type: scene.type, index)
        let isList = subject.kind.isList
        if value == .null {
            // ANY of a missing list never holds, and rows of users contain a number even without a user.
            guard comparison.quantifier == nil, ![.createdBy, .modifiedBy].contains(index) else { return nil }
            return nullMatch(id, relation, isList)
        }
        // A list is not an element of another list.
        if isList, case .value = comparison.left, comparison.quantifier != nil { return nil }
        let asked: PredicateComparison.Relation
        switch (isList, comparison.quantifier, relation) {
        case (true, nil, .contains): asked = .equal
        // Each element would have to contain the value.
        case (true, .any?, .contains): return nil
        case (true, .any?, _): asked = relation
        case (true, _, _): return nil
        case (false, _, .contains): return nil
        default: asked = relation
        }
        guard
            var match = try ranges(asked, value, subject).map({ ranges, isExact in
                IndexMatch(id: id, ranges: IndexRange.merged(ranges), isExact: isExact)
            })
        else { return nil }
        match.mayRepeat = isList && !(match.ranges.count == 1 && asked == .equal)
        return match
    }

    /// Like ``PredicateComparison/keyAndConstant``, and treats `ANY {1, 2} = key` as an IN.
    private static func parts(
        of comparison: PredicateComparison
    ) -> (key: String, relation: PredicateComparison.Relation, value: PredicateValue)? {
        switch (comparison.quantifier, comparison.left) {
        case (.any?, .value(let value)):
            guard comparison.relation == .equal, case .keyPath(let key) = comparison.right else { return nil }
            return (key, .isIn, value)
        case (nil, _), (.any?, .keyPath): return comparison.keyAndConstant
        default: return nil
        }
    }

    private func nullMatch(_ id: IndexID, _ relation: PredicateComparison.Relation, _ isList: Bool) -> IndexMatch? {
        switch relation {
        case .equal: IndexMatch(id: id, ranges: [IndexRange(beginningWith: [IndexKey.Kind.none.rawValue])])
        // An empty list is present, but has no rows.
        case .notEqual where !isList: IndexMatch(id: id, ranges: [.present])
        default: nil
        }
    }

    private func ranges(
        _ relation: PredicateComparison.Relation, _ value: PredicateValue, _ subject: QuerySubject
    ) throws -> (ranges: [IndexRange], isExact: Bool)? {
        switch relation {
        case .isIn:
            guard let values = value.elements, values.count <= Self.maximumValues else { return nil }
            var all: [IndexRange] = []
            var isExact = true
            for value in values {
                // A value of another type equals no value of the field.
                if value == .null { return nil }
                guard let (ranges, areExact) = try ranges(.equal, value, subject) else { return nil }
                all += ranges
                isExact = isExact && areExact
            }
            return (all, isExact)
        case .between:
            guard let bounds = value.elements, bounds.count == 2,
                let (lower, isLowerExact) = try ranges(.greaterOrEqual, bounds[0], subject),
                let (upper, isUpperExact) = try ranges(.lessOrEqual, bounds[1], subject)
            else { return nil }
            return (IndexRange.intersection(lower, upper), isLowerExact && isUpperExact)
        default: return try scalarRanges(relation, value, subject)
        }
    }

    private func scalarRanges(
        _ relation: PredicateComparison.Relation, _ value: PredicateValue, _ subject: QuerySubject
    ) throws -> (ranges: [IndexRange], isExact: Bool)? {
        switch (subject, subject.kind.element, value) {
        case (.system(.creationDate), _, .date(let date)), (.system(.modificationDate), _, .date(let date)):
            return timeRanges(relation, date)
        case (.system(.creatorUserRecordID), _, .reference(let target)),
            (.system(.lastModifiedUserRecordID), _, .reference(let target)):
            return try userRanges(relation, target)
        case (_, .int64, .int64), (_, .int64, .double):
            guard [.equal, .less, .lessOrEqual, .greater, .greaterOrEqual].contains(relation) else { return nil }
            let numbers = NumberRange.int64(relation, value)
            return (numbers.map { [Self.range(of: $0)] } ?? [], true)
        case (_, .double, .double(let number)): return doubleRanges(.double, relation, number)
        case (_, .double, .int64(let number)):
            return Double(exactly: number).flatMap { doubleRanges(.double, relation, $0) }
        case (_, .date, .date(let date)): return doubleRanges(.date, relation, date)
        case (_, .string, .string(let text)): return textRanges(relation, Array(text.utf8))
        case (_, .data, .data(let bytes)):
            guard relation == .equal else { return nil }
            return (
                [IndexRange(beginningWith: Self.start(.bytes) { $0.append(indexedText: bytes) })],
                bytes.count < IndexKey.maximumTextBytes
            )
        case (_, .reference, .reference(let target)): return try referenceRanges(relation, target)
        default: return nil
        }
    }

    private static func start(_ kind: IndexKey.Kind, _ value: (inout KeyWriter) -> Void) -> [UInt8] {
        var key = KeyWriter()
        key.append(kind: kind)
        value(&key)
        return key.bytes
    }

    private static func range(of numbers: ClosedRange<Int64>) -> IndexRange {
        IndexRange(
            from: start(.number) { $0.append(int64: numbers.lowerBound) },
            to: IndexRange.successor(start(.number) { $0.append(int64: numbers.upperBound) }))
    }

    /// Seconds are less precise than microseconds, so the range is widened and the comparison is evaluated again.
    private func timeRanges(
        _ relation: PredicateComparison.Relation, _ date: Double
    ) -> (ranges: [IndexRange], isExact: Bool)? {
        let microseconds = EngineDate.microseconds(date)
        let slack = 1_000.0
        guard let first = NumberRange.int64(.greaterOrEqual, .double(microseconds - slack)),
            let last = NumberRange.int64(.lessOrEqual, .double(microseconds + slack))
        else { return nil }
        switch relation {
        case .equal: return ([Self.range(of: first.lowerBound...max(first.lowerBound, last.upperBound))], false)
        case .less, .lessOrEqual: return ([Self.range(of: last)], false)
        case .greater, .greaterOrEqual: return ([Self.range(of: first)], false)
        default: return nil
        }
    }

    private func userRanges(
        _ relation: PredicateComparison.Relation, _ target: PredicateValue.Target
    ) throws -> (ranges: [IndexRange], isExact: Bool)? {
        guard relation == .equal else { return nil }
        guard let user = try scene.names.userOrdinal(ofRecordName: target.recordName) else { return ([], true) }
        let number = Int64(clamping: user)
        // The name alone does not show whether the reference points to the zone of user records.
        return ([Self.range(of: number...number)], false)
    }

    private func doubleRanges(
        _ kind: IndexKey.Kind, _ relation: PredicateComparison.Relation, _ number: Double
    ) -> (ranges: [IndexRange], isExact: Bool)? {
        guard let numbers = NumberRange(relation, number) else { return nil }
        if number.isNaN { return ([], true) }
        let lower = Self.start(kind) { $0.append(double: numbers.lower) }
        let upper = Self.start(kind) { $0.append(double: numbers.upper) }
        let range = IndexRange(
            from: numbers.hasLower ? lower : IndexRange.successor(lower),
            to: numbers.hasUpper ? IndexRange.successor(upper) : upper)
        return ([range], true)
    }

    private func textRanges(
        _ relation: PredicateComparison.Relation, _ text: [UInt8]
    ) -> (ranges: [IndexRange], isExact: Bool)? {
        let isWhole = text.count < IndexKey.maximumTextBytes
        let value = Self.start(.text) { $0.append(indexedText: text) }
        let kind = IndexKey.Kind.text.rawValue
        switch relation {
        case .equal: return ([IndexRange(beginningWith: value)], isWhole)
        case .beginsWith:
            // Without the terminator of the text.
            let isCut = text.count > IndexKey.maximumTextBytes
            return ([IndexRange(beginningWith: Array(value.dropLast()))], !isCut)
        case .less: return ([IndexRange(from: [kind], to: isWhole ? value : IndexRange.successor(value))], isWhole)
        case .lessOrEqual: return ([IndexRange(from: [kind], to: IndexRange.successor(value))], isWhole)
        case .greater:
            return ([IndexRange(from: isWhole ? IndexRange.successor(value) : value, to: [kind + 1])], isWhole)
        case .greaterOrEqual: return ([IndexRange(from: value, to: [kind + 1])], isWhole)
        default: return nil
        }
    }

    private func referenceRanges(
        _ relation: PredicateComparison.Relation, _ target: PredicateValue.Target
    ) throws -> (ranges: [IndexRange], isExact: Bool)? {
        guard relation == .equal else { return nil }
        guard let zone = try scene.names.zoneOrdinal(target.zoneName, owner: target.ownerName) else {
            return ([], true)
        }
        let key = RecordKey(zone: zone, name: target.recordName)
        let value = Self.start(.reference) { $0.append(indexed: key) }
        return ([IndexRange(beginningWith: value)], !IndexRow.isCut(value))
    }

    // MARK: Words

    /// The rows of a word search, one match per searched field; nil for any other comparison.
    func wordMatches(_ comparison: PredicateComparison) throws -> [IndexMatch]? {
        guard comparison.quantifier == nil, case .value(.string(let text)) = comparison.right else { return nil }
        let fields: [UInt32]
        switch (comparison.relation, comparison.left) {
        case (.contains, .evaluatedObject): fields = scene.searchedFields
        case (.tokenMatches, .keyPath(let key)):
            guard case .field(let field)? = try scene.subject(of: key), field.kind.element == .string,
                !field.isEncrypted
            else { return nil }
            fields = [field.field]
        default: return nil
        }
        let words = SearchWords.words(in: text)
        let ranges = words.map { word in
            IndexRange(beginningWith: Self.start(.text) { $0.append(indexedText: word.utf8) })
        }
        return fields.map { field in
            IndexMatch(
                id: IndexID(type: scene.type, .field(field), .words), ranges: IndexRange.merged(ranges),
                isExact: words.allSatisfy { $0.utf8.count < IndexKey.maximumTextBytes }, mayRepeat: words.count > 1)
        }
    }
}
