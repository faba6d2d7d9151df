import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("A page that processes share")
struct SharedPageTests {
    private let directory: TestDirectory
    private var path: String { directory.path("page") }

    init() throws { directory = try TestDirectory() }

    @Test("What the owner stores is read by others, also from the file, and stays for the next owner")
    func content() throws {
        var owner: SharedPage? = try SharedPage(path, .own)
        let follower = try SharedPage(path, .follow)
        #expect(try follower.read(0..<SharedPage.byteCount) == [UInt8](repeating: 0, count: SharedPage.byteCount))
        owner?.store([1, 2, 3], at: 4_093)
        #expect(try follower.read(4_092..<4_096) == [0, 1, 2, 3])
        #expect(try RealFileSystem().readAll(path, atMost: 8_192).suffix(4) == [0, 1, 2, 3])
        owner = nil
        owner = try SharedPage(path, .own)
        #expect(try follower.read(4_092..<4_096) == [0, 1, 2, 3])
        owner?.store([9], at: 0)
        #expect(try follower.read(0..<1) == [9])
    }

    @Test("An owner whose file is cut short makes it a page again; others see what it stores then")
    func ownerCutShort() throws {
        let owner = try SharedPage(path, .own)
        let follower = try SharedPage(path, .follow)
        owner.store([1, 2, 3], at: 100)
        #expect(truncate(path, 0) == 0)
        owner.announce(at: 2_048, wakingIfSet: 2_112)
        #expect(try follower.read(100..<103) == [])
        owner.store([4, 5, 6], at: 100)
        #expect(try follower.read(100..<103) == [4, 5, 6])
        owner.announce(at: 2_048, wakingIfSet: 2_112)
        #expect(try follower.read(2_048..<2_049) == [1])
    }

    @Test("The claim is seen by others until it is given up, or the owner goes")
    func claim() throws {
        var owner: SharedPage? = try SharedPage(path, .own)
        let others = [try SharedPage(path, .follow), try SharedPage(path, .read)]
        #expect(others.map { $0.isClaimed() } == [false, false])
        #expect(owner?.claim() == true)
        #expect(others.map { $0.isClaimed() } == [true, true])
        #expect(try !SharedPage(path, .own).claim())
        #expect(others.map { $0.isClaimed() } == [true, true])
        owner?.unclaim()
        #expect(others.map { $0.isClaimed() } == [false, false])
        #expect(owner?.claim() == true)
        owner = nil
        #expect(others.map { $0.isClaimed() } == [false, false])
    }

    @Test("Who waits is woken by news, and does not wait for news that has come")
    func waking() throws {
        let owner = try SharedPage(path, .own)
        let follower = try SharedPage(path, .follow)
        let start = ContinuousClock.now
        let thread = try WorkerThread(name: "waiter") {
            follower.wait(at: 256, while: 0, flag: 320, milliseconds: 60_000)
        }
        try #require(try eventually { try follower.read(320..<321) == [1] })
        owner.announce(at: 256, wakingIfSet: 320)
        thread.join()
        #expect(try follower.read(256..<260) == [1, 0, 0, 0])
        #expect(try follower.read(320..<324) == [0, 0, 0, 0])
        // It has been announced once: whoever knows of none finds that out at once.
        follower.wait(at: 256, while: 0, flag: 320, milliseconds: 60_000)
        #expect(start.duration(to: .now) < .seconds(30))
    }

    @Test("Who waits gives up when the time is up; whoever may only read looks again soon")
    func limits() throws {
        let owner = try SharedPage(path, .own)
        for use in [SharedPageUse.follow, .read] {
            let start = ContinuousClock.now
            try SharedPage(path, use).wait(at: 256, while: 0, flag: 320, milliseconds: 10)
            #expect(start.duration(to: .now) >= .milliseconds(10))
        }
        let start = ContinuousClock.now
        try SharedPage(path, .read).wait(at: 256, while: 0, flag: 320, milliseconds: 60_000)
        #expect(start.duration(to: .now) < .seconds(30))
        #expect(owner.claim())
    }

    @Test("A file that somebody cut short is read as far as it goes, and nobody can wait there: nothing traps")
    func cutShort() throws {
        let owner = try SharedPage(path, .own)
        let follower = try SharedPage(path, .follow)
        try RealFileSystem().open(path, .write).truncate(to: 100)
        #expect(try follower.read(0..<260).count == 100)
        follower.wait(at: 256, while: 0, flag: 320, milliseconds: 5)
        try RealFileSystem().open(path, .write).truncate(to: 0)
        follower.wait(at: 256, while: 0, flag: 320, milliseconds: 5)
        #expect(thrownCode { _ = try SharedPage(path, .read) } == .impossibleLength)
        #expect(owner.claim())
    }

    @Test("What is no page is refused; an owner makes a page of a short file")
    func refusals() throws {
        #expect(thrownCode { _ = try SharedPage(path, .read) } == .notFound)
        #expect(thrownCode { _ = try SharedPage(path, .follow) } == .notFound)
        #expect(thrownCode { _ = try SharedPage(directory.path, .own) } != nil)
        try RealFileSystem().open(path, .create).write([7, 8], at: 0)
        #expect(thrownCode { _ = try SharedPage(path, .follow) } == .impossibleLength)
        _ = try SharedPage(path, .own)
        #expect(try SharedPage(path, .follow).read(0..<3) == [7, 8, 0])
    }

    @Test("A file system in memory has no such pages")
    func inMemory() throws {
        #expect(try SimulatedDisk().openSharedPage("/page", .own) == nil)
    }

    @Test("The run of the machine has an identity that stays")
    func bootIdentity() {
        #expect(BootIdentity.current != nil)
        #expect(BootIdentity.current == BootIdentity.current)
    }
}
