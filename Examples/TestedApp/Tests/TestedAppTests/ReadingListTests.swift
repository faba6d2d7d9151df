#if os(Linux)
import CloudKit
import TestedApp
import Testing

/// Tests an app's sync layer, which is in Sources as it is on Apple's platforms, on two devices: `swift test`.
@Suite struct ReadingListTests {
    let store: CloudStore
    let phone: ReadingList
    let tablet: ReadingList
    /// The seconds for which the service lets the devices wait.
    let waits = AsyncStream.makeStream(of: TimeInterval.self)

    init() throws {
        let (store, waits) = (try CloudStore.inMemory(), waits.continuation)
        let lists = ["phone", "tablet"].map { device in
            ReadingList(store.container(user: "anna", device: device).privateCloudDatabase) { waits.yield($0) }
        }
        (self.store, phone, tablet) = (store, lists[0], lists[1])
    }

    @Test func aPageReachesTheTablet() async throws {
        await phone.read("Emma", to: 40)
        try await phone.send()
        try await tablet.fetch()
        #expect(await tablet.pages == ["Emma": 40])
    }

    @Test func aConflictKeepsTheHigherPage() async throws {
        try await aPageReachesTheTablet()
        await phone.read("Emma", to: 80)
        await tablet.read("Emma", to: 60)
        try await phone.send()
        try await tablet.send()
        #expect(await tablet.pages == ["Emma": 80])
    }

    @Test func aLimitedDeviceWaits() async throws {
        try store.console.failNext(of: .modifyRecords, with: .requestRateLimited, retryAfter: 30, on: "phone")
        try await aPageReachesTheTablet()
        #expect(await waits.stream.first { _ in true } == 30)
    }

    @Test func aLostResponseLosesNoPage() async throws {
        try await aPageReachesTheTablet()
        await phone.read("Emma", to: 80)
        try store.console.loseNextResponse(on: "phone")
        await #expect(throws: CKError.self) { try await phone.send() }
        try await phone.send()
        try await tablet.fetch()
        #expect(await tablet.pages == ["Emma": 80])
    }

    @Test func anExpiredTokenHidesNoDeletion() async throws {
        try await aPageReachesTheTablet()
        let id = CKRecord.ID(recordName: "Emma", zoneID: CKRecordZone.ID(zoneName: "Books"))
        try await store.container(user: "anna", device: "web").privateCloudDatabase.deleteRecord(withID: id)
        try store.console.expireTokens(before: store.offset + 1)
        try await tablet.fetch()
        #expect(await tablet.pages.isEmpty)
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>) func noPageIsLostWhateverHappens(seed: UInt64) async throws {
        let (plan, random) = (CloudStore.FaultPlan(seed: seed), CloudStore.SeededRandomNumbers(seed: seed))
        var expected: [String: Int] = [:]
        try store.console.setFaultPlan(plan)
        for page in 1...60 {
            let (device, book) = ([phone, tablet][Int(random.next() % 2)], "book \(random.next() % 3)")
            await device.read(book, to: page)
            expected[book] = page
            if random.next() % 2 == 0 { try? await device.fetch() } else { try? await device.send() }
        }
        try store.console.clearFaults()
        for device in [phone, tablet] { try await device.send() }
        for device in [phone, tablet] { try await device.fetch() }
        #expect(await [phone.pages, tablet.pages] == [expected, expected], "\(plan)")
    }
}
#endif
