import StrataLog
import StrataModel
import StrataSystem
import Synchronization

@testable import StrataStore

/// Judges rebuilt requests once more, on an empty store, each at its commit's time and with its commit's id.
struct SecondLife {
    let store: Store
    private let clock = ManualTime(microseconds: 0)
    private let random = GivenRandom()

    /// - Parameters:
    ///   - files: nil for a store in memory.
    ///   - secret: the secret that a store in memory draws; nil for that of a plain sequence.
    init(_ options: StoreOptions, files: (any FileSystem)? = nil, secret: StoreSecret? = nil) throws {
        // The store draws its ID before its secret.
        if let secret { random.give(Identifier(high: 1, low: 1), secret.key) }
        let platform = Platform(files: files ?? RealFileSystem(), time: clock, random: random)
        store =
            files == nil
            ? try Store(on: MemoryLog(), options: options, platform: platform)
            : try Store.open(at: "/Second.strata", options: options, platform: platform)
    }

    func live(_ requests: [RebuiltRequest]) throws {
        for asked in requests {
            clock.advance(byMicroseconds: asked.time - clock.nowMicroseconds())
            random.give(asked.commitID)
            _ = try store.modify(asked.request, as: asked.actor, operation: asked.operation)
        }
    }

    /// Where two logs begin to differ; nil if they do not.
    static func difference(_ left: any EventLog, _ right: any EventLog) throws -> String? {
        var (leftCursor, rightCursor) = (try left.read(from: 1), try right.read(from: 1))
        while true {
            let (one, other) = (try leftCursor.next(), try rightCursor.next())
            guard one == other else { return try describe(one, other) }
            if one == nil { return nil }
        }
    }

    private static func describe(_ one: Commit?, _ other: Commit?) throws -> String {
        guard let one, let other else { return "one ends before \(one?.offset ?? other?.offset ?? 0)" }
        let (left, right) = (try Envelope(decoding: one.payload), try Envelope(decoding: other.payload))
        var text = "commit \(one.offset): "
        if left.header != right.header {
            text += "shapes \(try RequestShape(decoding: left.header.requestShape)) "
            text += "and \(try RequestShape(decoding: right.header.requestShape)) "
        }
        if let index = zip(left.events, right.events).enumerated().first(where: { $1.0 != $1.1 })?.offset {
            text += "event \(index): \(left.events[index]) and \(right.events[index])"
        }
        return text
    }
}

/// Gives the identifiers that it was given, and a plain sequence while there is none.
private final class GivenRandom: RandomSource {
    private let numbers = Lock<[UInt64]>([])
    private let plain = SeededRandom(seed: 5)

    /// - Parameter bytes: what `nextBytes(count:)` gives after the identifier, in whole numbers.
    func give(_ identifier: Identifier, _ bytes: [UInt8] = []) {
        let words = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        numbers.withLock { $0 = [identifier.high, identifier.low] + words }
    }

    func next() -> UInt64 {
        numbers.withLock { $0.isEmpty ? nil : $0.removeFirst() } ?? plain.next()
    }
}
