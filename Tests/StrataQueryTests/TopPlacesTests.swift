import StrataViews
import TestSupport
import Testing

@testable import StrataQuery

@Suite("The first places in an order")
struct TopPlacesTests {
    @Test("They are the first ones of all, wherever they came from", arguments: [0, 1, 7, 40, 300])
    func firstOnes(limit: Int) throws {
        for seed in seeds(3) {
            var random = SeededGenerator(seed: seed)
            var all: [(place: [UInt8], tie: Int)] = []
            var whole = TopPlaces(limit)
            for part in 0..<4 {
                var top = TopPlaces(limit)
                for number in 0..<400 {
                    // Most are told apart by their first bytes, many only by their tie; some begin others.
                    let keyCount = Int.random(in: 0...9, using: &random)
                    let key = (0..<keyCount).map { _ in UInt8.random(in: 0...1, using: &random) }
                    let place = key + [2, UInt8(part), UInt8(number / 256), UInt8(number % 256)]
                    if top.mayAccept(key) { top.add(place[...], tie: key.count) }
                    all.append((place, key.count))
                }
                whole.add(top)
            }
            all.sort { $0.place.lexicographicallyPrecedes($1.place) }
            let records = try whole.sorted(.byPlace)
            let expected = all.prefix(limit).map { Array($0.place[$0.tie...]) }
            #expect(records.indices.map { records[$0] } == expected, "seed \(seed)")
        }
    }
}
