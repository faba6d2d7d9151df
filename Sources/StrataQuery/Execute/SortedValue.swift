/// A value in a total order: missing values come first, values of different types are kept apart, and NaN comes after
/// all numbers.
package struct SortedValue: Comparable, Sendable {
    package let value: PredicateValue

    package init(_ value: PredicateValue?) { self.value = value ?? .null }

    package static func < (left: SortedValue, right: SortedValue) -> Bool {
        if left.rank != right.rank { return left.rank < right.rank }
        return left.value.isOrdered(before: right.value) ?? (!left.isNaN && right.isNaN)
    }

    package static func == (left: SortedValue, right: SortedValue) -> Bool { !(left < right) && !(right < left) }

    private var isNaN: Bool {
        switch value {
        case .double(let number), .date(let number): number.isNaN
        default: false
        }
    }

    private var rank: Int {
        switch value {
        case .null: 0
        case .int64, .double: 1
        case .date: 2
        case .string: 3
        case .data: 4
        case .reference: 5
        case .location: 6
        case .list: 7
        case .opaque: 8
        }
    }
}
