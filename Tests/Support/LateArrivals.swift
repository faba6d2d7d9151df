import StrataSystem

/// What is on its way to something hostile, and arrives some calls later.
struct LateArrivals<Element> {
    private static var maximumCalls: UInt64 { 6 }

    private var waiting: [(element: Element, calls: UInt64)] = []

    /// Adds an element that arrives after fewer than six calls of ``next()``.
    mutating func add(_ element: Element, _ random: SeededRandom) {
        waiting.append((element, random.next(below: Self.maximumCalls)))
    }

    /// Counts a call, and returns what arrives with it.
    mutating func next() -> [Element] {
        for index in waiting.indices { waiting[index].calls -= min(1, waiting[index].calls) }
        defer { waiting.removeAll { $0.calls == 0 } }
        return waiting.filter { $0.calls == 0 }.map(\.element)
    }

    mutating func takeAll() -> [Element] {
        defer { waiting = [] }
        return waiting.map(\.element)
    }
}
