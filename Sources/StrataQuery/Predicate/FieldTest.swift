import StrataModel

/// A comparison of a field with a constant that is decided on the field's bytes.
struct FieldTest {
    private enum Question {
        case isMissing
        case int64(ClosedRange<Int64>)
        case notInt64(ClosedRange<Int64>)
        case double(NumberRange)
        case notDouble(Double)
        case text(TextRange)
        case notText([UInt8])
        case prefix([UInt8])
        case substring(TextSearch)
        case isOneInt64(Set<Int64>)
        case isOneText(Set<[UInt8]>)
        case never
    }

    let field: UInt32
    private let kind: FieldKind
    private let question: Question

    /// Nil for a comparison that requires decoded values.
    init?(_ comparison: PredicateComparison, _ scene: QueryContext) throws {
        guard comparison.quantifier == nil, let (key, relation, value) = comparison.keyAndConstant,
            case .field(let field)? = try scene.subject(of: key), !field.isEncrypted
        else { return nil }
        self.field = field.field
        kind = field.kind
        guard let question = Self.question(relation, value, comparison.options, kind: field.kind) else { return nil }
        self.question = question
    }

    private static func question(
        _ relation: PredicateComparison.Relation, _ value: PredicateValue, _ options: TextFolding.Options,
        kind: FieldKind
    ) -> Question? {
        if value == .null {
            return relation == .equal ? .isMissing : nil
        }
        switch (kind, value) {
        case (.int64, .int64), (.int64, .double):
            if relation == .notEqual { return NumberRange.int64(.equal, value).map(Question.notInt64) }
            guard [.equal, .less, .lessOrEqual, .greater, .greaterOrEqual].contains(relation) else { return nil }
            return NumberRange.int64(relation, value).map(Question.int64) ?? .never
        case (.double, .double(let number)), (.date, .date(let number)):
            if relation == .notEqual { return .notDouble(number) }
            return NumberRange(relation, number).map(Question.double)
        case (.double, .int64(let number)):
            guard let exact = Double(exactly: number) else { return nil }
            return question(relation, .double(exact), options, kind: kind)
        case (.string, .string(let text)): return textQuestion(relation, text, options)
        case (_, .list(let values)) where relation == .isIn && options.isEmpty: return membershipQuestion(values, kind)
        default: return nil
        }
    }

    /// Looks up a value in a set, so that the number of values hardly matters.
    private static func membershipQuestion(_ values: [PredicateValue], _ kind: FieldKind) -> Question? {
        var (numbers, texts) = (Set<Int64>(), Set<[UInt8]>())
        for value in values {
            switch (kind, value) {
            case (.int64, .int64(let number)): numbers.insert(number)
            case (.string, .string(let text)): texts.insert(Array(text.utf8))
            default: return nil
            }
        }
        return kind == .int64 ? .isOneInt64(numbers) : kind == .string ? .isOneText(texts) : nil
    }

    private static func textQuestion(
        _ relation: PredicateComparison.Relation, _ text: String, _ options: TextFolding.Options
    ) -> Question? {
        if relation == .contains { return .substring(TextSearch(text, options)) }
        guard options.isEmpty else { return nil }
        let bytes = Array(text.utf8)
        switch relation {
        case .notEqual: return .notText(bytes)
        case .beginsWith: return .prefix(bytes)
        default: return TextRange(relation, bytes).map(Question.text)
        }
    }

    /// Nil if the field has another kind of value than the schema declares.
    func holds(_ table: FieldTable, _ bytes: UnsafeRawBufferPointer) throws -> Bool? {
        try holds(try table.range(of: field), bytes)
    }

    /// - Parameter range: the field's value in the bytes.
    func holds(_ range: Range<Int>?, _ bytes: UnsafeRawBufferPointer) throws -> Bool? {
        guard let range, !range.isEmpty else {
            if case .isMissing = question { return true }
            return false
        }
        if case .isMissing = question { return false }
        guard bytes[range.lowerBound] == kind.rawValue else { return nil }
        let content = range.lowerBound + 1..<range.upperBound
        switch question {
        case .isMissing, .never: return false
        case .int64(let wanted): return wanted.contains(try EncodedNumber.int64(bytes, in: content))
        case .notInt64(let other): return !other.contains(try EncodedNumber.int64(bytes, in: content))
        case .double(let wanted): return wanted.contains(try EncodedNumber.double(bytes, in: content))
        case .notDouble(let other): return try EncodedNumber.double(bytes, in: content) != other
        case .text(let wanted): return wanted.contains(UnsafeRawBufferPointer(rebasing: bytes[content]))
        case .notText(let other):
            return !other.withUnsafeBytes { Self.isEqual($0, UnsafeRawBufferPointer(rebasing: bytes[content])) }
        case .prefix(let prefix):
            guard content.count >= prefix.count else { return false }
            let start = UnsafeRawBufferPointer(rebasing: bytes[content].prefix(prefix.count))
            return prefix.withUnsafeBytes { Self.isEqual($0, start) }
        case .isOneInt64(let wanted): return wanted.contains(try EncodedNumber.int64(bytes, in: content))
        case .isOneText(let wanted): return wanted.contains([UInt8](bytes[content]))
        case .substring(let search): return search.finds(UnsafeRawBufferPointer(rebasing: bytes[content]))
        }
    }

    static func isEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        a.count == b.count && a.elementsEqual(b)
    }
}

extension PredicateComparison {
    /// The key and the constant of a comparison, whichever sides they are on; nil for any other comparison.
    var keyAndConstant: (key: String, relation: Relation, value: PredicateValue)? {
        switch (left, right) {
        case (.keyPath(let key), .value(let value)): return (key, relation, value)
        case (.value(let value), .keyPath(let key)):
            switch relation {
            case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
                return (key, relation.mirrored, value)
            case .isIn: return (key, .contains, value)
            default: return nil
            }
        default: return nil
        }
    }
}

/// The numbers between two bounds.
struct NumberRange {
    var lower: Double
    var upper: Double
    var hasLower: Bool
    var hasUpper: Bool

    /// Nil for a relation that is not a range.
    init?(_ relation: PredicateComparison.Relation, _ number: Double) {
        (lower, upper, hasLower, hasUpper) = (-.infinity, .infinity, true, true)
        switch relation {
        case .equal: (lower, upper) = (number, number)
        case .less: (upper, hasUpper) = (number, false)
        case .lessOrEqual: upper = number
        case .greater: (lower, hasLower) = (number, false)
        case .greaterOrEqual: lower = number
        default: return nil
        }
    }

    /// Returns true if the number is in the range; false for NaN.
    func contains(_ number: Double) -> Bool {
        (hasLower ? number >= lower : number > lower) && (hasUpper ? number <= upper : number < upper)
    }

    /// The integers for which a comparison holds; nil if there are none.
    static func int64(_ relation: PredicateComparison.Relation, _ value: PredicateValue) -> ClosedRange<Int64>? {
        let (floor, ceiling): (Int64?, Int64?)
        let isWhole: Bool
        switch value {
        case .int64(let number): (floor, ceiling, isWhole) = (number, number, true)
        case .double(let number):
            guard !number.isNaN else { return nil }
            floor = number >= 0x1p63 ? .max : number < -0x1p63 ? nil : Int64(number.rounded(.down))
            ceiling = number >= 0x1p63 ? nil : number < -0x1p63 ? .min : Int64(number.rounded(.up))
            isWhole = Int64(exactly: number) != nil
        default: return nil
        }
        func below(_ number: Int64?) -> Int64? { number.flatMap { $0 == .min ? nil : $0 - 1 } }
        func above(_ number: Int64?) -> Int64? { number.flatMap { $0 == .max ? nil : $0 + 1 } }
        switch relation {
        case .equal: return isWhole ? floor.map { $0...$0 } : nil
        case .less:
            guard let last = isWhole ? below(floor) : floor else { return nil }
            return .min...last
        case .lessOrEqual: return floor.map { .min...$0 }
        case .greater:
            guard let first = isWhole ? above(ceiling) : ceiling else { return nil }
            return first...(.max)
        case .greaterOrEqual: return ceiling.map { $0...(.max) }
        default: return nil
        }
    }
}

/// The texts equal to a bound or on one side of it, in the order of their bytes.
struct TextRange {
    private let relation: PredicateComparison.Relation
    private let bound: [UInt8]

    init?(_ relation: PredicateComparison.Relation, _ bound: [UInt8]) {
        guard [.equal, .less, .lessOrEqual, .greater, .greaterOrEqual].contains(relation) else { return nil }
        self.relation = relation
        self.bound = bound
    }

    func contains(_ text: UnsafeRawBufferPointer) -> Bool {
        bound.withUnsafeBytes { bound in
            switch relation {
            case .equal: FieldTest.isEqual(text, bound)
            case .less: text.lexicographicallyPrecedes(bound)
            case .lessOrEqual: !bound.lexicographicallyPrecedes(text)
            case .greater: bound.lexicographicallyPrecedes(text)
            default: !text.lexicographicallyPrecedes(bound)
            }
        }
    }
}
