/// Values of one kind, in order. The empty list has no kind and fits every kind.
///
/// ```swift
/// let numbers = try FieldList([.int64(1), .int64(2)])
/// numbers.kind == FieldKind.int64.list
/// ```
public struct FieldList: Sendable, Hashable {
    public static let maximumCount = 1 << 20
    public static let empty = FieldList()

    public let elements: [FieldValue]

    private init() { elements = [] }

    /// - Throws: ``StrataError`` if the elements differ in kind, are lists or encrypted, or are too many.
    public init(_ elements: [FieldValue]) throws {
        guard elements.count <= Self.maximumCount else {
            throw StrataError.tooLarge("a list's count", limit: Self.maximumCount, found: elements.count)
        }
        if let kind = elements.first?.kind {
            guard kind.isScalar, elements.allSatisfy({ $0.kind == kind }) else {
                throw StrataError(
                    .invalidArgument,
                    "The elements of a list must be of one kind, and neither lists nor encrypted values.",
                    .init(found: elements.first { !$0.kind.isScalar || $0.kind != kind }.map { "\($0.kind)" }))
            }
        }
        self.elements = elements
    }

    public var kind: FieldKind { elements.first?.kind.list ?? .emptyList }
}
