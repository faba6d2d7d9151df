/// Elements of which the first in an order is at hand.
struct Heap<Element> {
    private(set) var elements: [Element] = []
    private let isBefore: (Element, Element) -> Bool

    init(_ isBefore: @escaping (Element, Element) -> Bool) { self.isBefore = isBefore }

    var first: Element? { elements.first }

    mutating func push(_ element: Element) {
        elements.append(element)
        var index = elements.count - 1
        while index > 0, isBefore(elements[index], elements[(index - 1) / 2]) {
            elements.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func pop() -> Element? {
        guard let first = elements.first, let last = elements.popLast() else { return nil }
        if !elements.isEmpty { replaceFirst(by: last) }
        return first
    }

    /// There is one.
    mutating func replaceFirst(by element: Element) {
        elements[0] = element
        var index = 0
        while true {
            var next = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < elements.count && isBefore(elements[child], elements[next]) { next = child }
            if next == index { return }
            elements.swapAt(index, next)
            index = next
        }
    }
}
