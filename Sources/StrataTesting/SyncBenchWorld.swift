import CloudKit

/// The store and the devices of one run.
struct SyncBenchWorld<App: SyncBenchApp> {
    private static var user: String { "bench" }
    /// The maximum number of rounds until all devices must have nothing left to do.
    private static var mostRounds: Int { 20 }
    /// The number of callbacks, at most, before which a process ends; a sync with conflicts has fewer.
    static var mostCallbacks: UInt64 { 24 }
    private static var codes: [CKError.Code] {
        [.networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy, .limitExceeded]
    }

    private let clock = CloudStore.ManualClock()
    private let store: CloudStore
    private let zoneID: CKRecordZone.ID?
    private let devices: [SyncBenchDevice<App>]

    init(_ bench: SyncBench<App>) throws {
        var options = CloudStore.Options.service
        options.clock = clock
        options.random = CloudStore.SeededRandomNumbers(seed: bench.seed)
        store = try CloudStore.inMemory(options: options)
        zoneID = bench.zoneID
        let store = store
        devices = (0..<max(bench.deviceCount, 1)).map { number in
            SyncBenchDevice(store.container(user: Self.user, device: "\(number)").privateCloudDatabase)
        }
    }

    /// Creates the zone, and lets every device fetch: from then on all have tokens, without which no app hears of
    /// deletions (B434).
    func begin() async throws {
        guard let zoneID, let first = devices.first else { return }
        try await first.createZone(zoneID)
        for device in devices { await device.sync(sends: false, fetches: true) }
    }

    func end() { try? store.close() }

    func take(_ step: SyncBenchStep) async throws {
        let device = devices[step.device]
        await device.reportStart()
        let name = "\(step.device)"
        let console = store.console
        switch step.kind {
        case .edit: device.edit(step.number)
        case .send: await device.sync(sends: true, fetches: false)
        case .fetch: await device.sync(sends: false, fetches: true)
        case .kill:
            device.end(afterCallbacks: Int(step.number % Self.mostCallbacks))
            await device.sync()
            await device.relaunch()
        case .relaunch: await device.relaunch()
        case .loseAnswer:
            try console.loseNextResponse(1 + Int(step.number % 3), on: name)
            await device.sync()
        case .failRequest:
            let code = Self.codes[Int(step.number % UInt64(Self.codes.count))]
            try console.failNext(1 + Int(step.number >> 8 & 1), with: code, on: name)
            await device.sync()
        case .failItem:
            try console.failNext(of: .modifyRecords, with: .zoneBusy, scope: .item, on: name)
            await device.sync()
        case .expireTokens: try console.expireTokens(before: store.offset + 1)
        case .purgeZone:
            if let zoneID { try? console.purgeZone(zoneID, of: Self.user) }
        case .loseAccount:
            try console.setAccountStatus(.temporarilyUnavailable, of: Self.user)
            await device.sync()
            try console.setAccountStatus(.available, of: Self.user)
        case .wait:
            // Reported before, so that the order of callbacks does not depend on when tasks wake.
            for device in devices { await device.reportState() }
            clock.advance(by: .milliseconds(Int(step.number % 2_000)))
        }
    }

    /// Lets all devices sync undisturbed. Returns the first difference of what they show; nil if there is none.
    func difference() async throws -> String? {
        try store.console.clearFaults()
        for round in 1... {
            let before = devices.map(\.contents)
            // What one device sends in a round, those before it fetch in the next.
            var isIdle = devices.allSatisfy(\.isIdle)
            for device in devices {
                await device.sync()
                isIdle = isIdle && device.isIdle
            }
            if isIdle, devices.map(\.contents) == before { break }
            if round == Self.mostRounds { return "the devices still have changes after \(round) rounds" }
        }
        let newest = SyncBenchDevice<App>(store.container(user: Self.user, device: "new").privateCloudDatabase)
        await newest.sync(sends: false, fetches: true)
        let expected = newest.contents
        for (number, device) in devices.enumerated() {
            let contents = device.contents
            for key in Set(contents.keys).union(expected.keys).sorted() where contents[key] != expected[key] {
                let (has, stored) = (contents[key] ?? "nothing", expected[key] ?? "nothing")
                return "device \(number) shows \(has) for \(key), and a new device \(stored)"
            }
        }
        return nil
    }
}
