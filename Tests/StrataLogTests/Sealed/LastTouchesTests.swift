import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("The last touches of a record, from the newest segment on", .timeLimit(.minutes(3)))
struct LastTouchesTests {
    @Test("Against all touches of the record, for any number and up to any offset")
    func againstAll() throws {
        try withSeeds(4) { seed in
            let sealed = try SealedStore(seed: seed, count: 240, bytesPerEvent: [40, 900])
            try check(sealed.sealedPaths.count > 2, "there is only one segment")
            let reader = try sealed.store.reader()
            let end = UInt64(sealed.commits.count)
            for zone: UInt64 in [1, 2] {
                let touches = try sealed.touches(of: zone, after: 0).filter(\.kind.isOfRecord)
                let names = Set(touches.map(\.key)).sorted { $0.lexicographicallyPrecedes($1) }
                for name in names.prefix(6) + [Array("nobody".utf8)] {
                    for last in [0, 1, end / 2, end - 1, end, end + 5] {
                        let all = touches.filter { $0.key == name && $0.offset <= last }
                        for limit in [1, 2, 5, 60, Int.max] {
                            let found = try reader.lastTouches(record: name, in: zone, through: last, limit: limit)
                            let first = all.suffix(limit).first?.offset ?? min(last, end) + 1
                            #expect(found == LastTouches(first: first, count: all.count { $0.offset >= first }))
                        }
                    }
                }
            }
        }
    }

    @Test("None at all are asked for in vain")
    func noLimit() throws {
        let reader = try SealedStore.small().store.reader()
        #expect(throws: StrataError.self) {
            try reader.lastTouches(record: [65], in: 1, through: 5, limit: 0)
        }
    }
}
