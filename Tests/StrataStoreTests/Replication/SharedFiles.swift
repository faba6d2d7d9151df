import StrataModel
import StrataReplication
import StrataSystem
import TestSupport

@testable import StrataStore

/// Engines of one store on one disk, each with a copy of its own, and with a directory for assets and keys that all
/// share.
struct SharedFiles {
    static let directory = "/Shared"
    static let database = DatabaseID(.private)
    static let day: Int64 = 86_400_000_000
    /// A zone that a reset does not delete.
    static let defaultZone = ZoneID("_defaultZone")

    let disk = SimulatedDisk()
    let sequence = MemorySequencer.Sequence()
    let clock = ManualTime(microseconds: 1_700_000_000_000_000)

    init() { disk.time = clock }

    var place: LogPlace {
        LogPlace(address: "memory") { [sequence] _ in MemorySequencer(sequence) }.withFiles(in: Self.directory)
    }

    var platform: Platform { Platform(files: disk, time: clock) }

    func open(_ name: String, _ place: LogPlace? = nil, access: AccessMode = .readWrite) throws -> Store {
        var options = StoreOptions.service
        options.place = place ?? self.place
        return try Store.open(at: "/\(name).strata", options: options, access: access, platform: platform)
    }

    /// Opens several engines, of which the first makes the zones.
    func open(_ count: Int) throws -> [Store] {
        let stores = try (0..<count).map { try open("\($0)") }
        _ = try stores[0].modify(NoteRequest.makingZones(), as: AssetFixture.anna)
        for store in stores { try store.confirm() }
        return stores
    }

    // MARK: Assets

    func source(_ number: Int) throws -> String {
        try AssetFixture.write(AssetFixture.bytes(number), to: "/source-\(number)", on: disk)
    }

    /// Imports a file through a store, and saves a record that has it.
    func save(_ name: String, _ number: Int, in store: Store) throws {
        try AssetFixture.save(name, [try store.importAsset(at: source(number))], in: store)
    }

    /// Imports a file that no record will name, and lets go of it.
    func drop(_ number: Int, in store: Store) throws -> FieldValue.Asset {
        try store.importAsset(at: source(number)).value
    }

    /// Returns the bytes of a record's only asset, as a store reads them.
    func bytes(of name: String, in store: Store) throws -> [UInt8]? {
        try store.confirm()
        let asset = try AssetFixture.requireWhole(store, [name]).first
        guard let asset else { return nil }
        try store.copyAsset(asset, to: "/copy")
        defer { try? disk.remove("/copy") }
        return try disk.readAll("/copy", atMost: 10_000)
    }

    /// The names of the files below the assets that all share.
    var kept: [String] { get throws { try AssetFixture.kept(on: disk, at: Self.directory) } }

    // MARK: Encrypted values

    func seal(
        _ text: String, for name: String, in store: Store, _ zone: ZoneID = defaultZone, user: String = "anna"
    ) throws -> FieldValue {
        try store.seal(
            .string(text), for: "pin", of: RecordID(name, zone: zone), in: Self.database, as: Actor(user: user))
    }

    func save(
        _ name: String, _ value: FieldValue, in store: Store, _ zone: ZoneID = defaultZone, user: String = "anna"
    ) throws {
        var builder = RequestBuilder(Self.database, policy: .allKeys)
        builder.save(RecordID(name, zone: zone), type: "Card", fields: ["pin": value])
        let answer = try store.modify(builder.request, as: Actor(user: user))
        for save in answer.result.saves { _ = try save.get() }
    }

    func opened(
        _ name: String, in store: Store, _ zone: ZoneID = defaultZone, user: String = "anna"
    ) throws -> FieldValue? {
        try store.confirm()
        return try store.snapshot().record(RecordID(name, zone: zone), in: Self.database, as: Actor(user: user))
            .opened("pin")
    }

    // MARK: Interleavings

    /// Does something else before the call with this number that `work` makes in the shared directory; returns false if
    /// there are fewer.
    func interleave(_ number: Int, _ work: () throws -> Void, _ other: @escaping @Sendable () -> Void) rethrows -> Bool
    {
        let calls = Monitor((count: 0, isDone: false))
        disk.beforeCall = { [weak disk] _, path in
            guard path.hasPrefix(Self.directory) else { return }
            let isNow = calls.withLock { calls in
                calls.count += 1
                return calls.count == number
            }
            guard isNow else { return }
            disk?.beforeCall = nil
            other()
            calls.withLock { $0.isDone = true }
            calls.notifyAll()
        }
        defer { disk.beforeCall = nil }
        try work()
        // The call may be one of a thread that the work does not wait for.
        return calls.wait { $0.count < number ? false : $0.isDone ? true : nil }
    }

    /// What a loss of power before each call of `work` leaves of the disk, at its least, its most and in between.
    func survivors(_ work: () throws -> Void) throws -> [SimulatedDisk] {
        let copies = Lock<[SimulatedDisk]>([])
        let note: @Sendable (SimulatedDisk) -> Void = { disk in
            for keeping in SimulatedDisk.PowerLoss.allCases {
                let copy = disk.afterPowerLoss(seed: UInt64(copies.withLock { $0.count }), keeping: keeping)
                copies.withLock { $0.append(copy) }
            }
        }
        disk.beforeCall = { [weak disk] kind, path in
            guard let disk, path.hasPrefix(Self.directory) else { return }
            if ![.exists, .open, .size, .read, .list].contains(kind) { note(disk) }
        }
        defer { disk.beforeCall = nil }
        try work()
        disk.beforeCall = nil
        note(disk)
        return copies.withLock { $0 }
    }
}
