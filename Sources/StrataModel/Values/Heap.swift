/// A priority queue, which gives access to the first element in an order.
///
/// ```swift
/// var nearest = Heap<Place> { $0.meters < $1.meters }
/// nearest.push(place)
/// while let place = nearest.pop() { use(place) }
/// ```
// Inlinable, so that it is specialized where it is used: merges call it for each entry.
@usableFromInline
package struct Heap<Element> {
    @usableFromInline var storage: [Element] = []
    @usableFromInline let isBefore: (Element, Element) -> Bool

    @inlinable
    package init(_ isBefore: @escaping (Element, Element) -> Bool) { self.isBefore = isBefore }

    /// The elements: the first in the order, then the others in no particular order.
    @inlinable package var elements: [Element] { storage }
    @inlinable package var first: Element? { storage.first }

    @inlinable
    package mutating func push(_ element: Element) {
        storage.append(element)
        var index = storage.count - 1
        while index > 0, isBefore(storage[index], storage[(index - 1) / 2]) {
            storage.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    @inlinable
    package mutating func pop() -> Element? {
        guard let first = storage.first, let last = storage.popLast() else { return nil }
        if !storage.isEmpty { replaceFirst(by: last) }
        return first
    }

    /// Replaces the first element; there must be one.
    @inlinable
    package mutating func replaceFirst(by element: Element) {
        storage[0] = element
        var index = 0
        while true {
            var next = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < storage.count && isBefore(storage[child], storage[next]) { next = child }
            if next == index { return }
            storage.swapAt(index, next)
            index = next
        }
    }
}
