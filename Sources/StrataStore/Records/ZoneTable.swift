import StrataModel
import StrataTree
import Synchronization

/// The zones of one state that readers have looked up, so that a record of one of them costs no lock, and no search but
/// its own.
final class ZoneTable: Sendable {
    private let first = ZonePlace()
    private let second = ZonePlace()
    private let third = ZonePlace()
    /// The zones after the third.
    private let others = AtomicLazyReference<OtherZones>()

    /// Returns the reader of a zone if it is known.
    func reader(of id: ZoneID, in database: DatabaseID, as actor: Actor, _ trees: Snapshot) -> ZoneReader? {
        if let known = first.load(), known.serves(id, in: database, as: actor, trees) { return known }
        if let known = second.load(), known.serves(id, in: database, as: actor, trees) { return known }
        guard let last = third.load() else { return nil }
        if last.serves(id, in: database, as: actor, trees) { return last }
        return others.load()?.reader(at: Self.hash(id, actor)) { $0.serves(id, in: database, as: actor, trees) }
    }

    /// Keeps a reader if there is room.
    func add(_ made: ZoneReader) {
        if first.storeIfNil(made) === made || second.storeIfNil(made) === made { return }
        if third.storeIfNil(made) === made { return }
        (others.load() ?? others.storeIfNil(OtherZones(isLast: false))).add(made, at: Self.hash(made.zone, made.actor))
    }

    private static func hash(_ zone: ZoneID, _ actor: Actor) -> Int {
        var hasher = Hasher()
        hasher.combine(zone)
        hasher.combine(actor)
        return hasher.finalize()
    }
}

/// Many zones of one state, each at one of the few places that begin at its hash. Most states are read in few zones, so
/// the first table is small; zones that find no place in it are in a second, last one.
// The memory is changed only by the places themselves, and ends with the object.
private final class OtherZones: @unchecked Sendable {
    /// The number of places at which a zone can be.
    private static let reach = 4

    private let places: UnsafeMutablePointer<ZonePlace>
    /// A power of two.
    private let count: Int
    private let isLast: Bool
    private let next = AtomicLazyReference<OtherZones>()

    init(isLast: Bool) {
        self.isLast = isLast
        count = isLast ? 1 << 12 : 1 << 6
        places = .allocate(capacity: count)
        for index in 0..<count { (places + index).initialize(to: ZonePlace()) }
    }

    deinit {
        places.deinitialize(count: count)
        places.deallocate()
    }

    func reader(at hash: Int, where isWanted: (ZoneReader) -> Bool) -> ZoneReader? {
        for step in 0..<Self.reach {
            guard let known = places[(hash &+ step) & (count - 1)].load() else { return nil }
            if isWanted(known) { return known }
        }
        return next.load()?.reader(at: hash, where: isWanted)
    }

    func add(_ made: ZoneReader, at hash: Int) {
        for step in 0..<Self.reach where places[(hash &+ step) & (count - 1)].storeIfNil(made) === made { return }
        if !isLast { (next.load() ?? next.storeIfNil(OtherZones(isLast: true))).add(made, at: hash) }
    }
}

/// A place for a zone reader, which is set once.
// Not an `AtomicLazyReference`, which asks for the metadata of its type with each load: a tenth of a fetch.
private struct ZonePlace: ~Copyable, Sendable {
    /// The address of the reader, which the place retains; 0 if there is none.
    private let address = Atomic<UInt>(0)

    deinit { Self.reference(address.load(ordering: .acquiring))?.release() }

    // The address is that of a retained reader, since nothing else is stored.
    private static func reference(_ address: UInt) -> Unmanaged<ZoneReader>? {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
    }

    func load() -> ZoneReader? { Self.reference(address.load(ordering: .acquiring))?.takeUnretainedValue() }

    /// Returns the reader that the place has afterward: the given one if it had none.
    func storeIfNil(_ reader: ZoneReader) -> ZoneReader {
        let retained = Unmanaged.passRetained(reader)
        let (isStored, original) = address.compareExchange(
            expected: 0, desired: UInt(bitPattern: retained.toOpaque()), ordering: .acquiringAndReleasing)
        if isStored { return reader }
        retained.release()
        return Self.reference(original)?.takeUnretainedValue() ?? reader
    }
}
