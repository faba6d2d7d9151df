import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// What a page may say: everything that is accepted can be used, and what does not fit together is refused.
@Suite("Checking pages")
struct PageCheckTests {
    @Test("Every flipped byte and every prefix of good pages fails the checksum", arguments: SamplePage.all)
    func damaged(sample: SamplePage) throws {
        var bytes = sample.sealed()
        #expect(accepts(bytes))
        for place in bytes.indices {
            bytes[place] ^= 1 << UInt8(place & 7)
            if accepts(bytes) { Issue.record("byte \(place) of \(sample.name)") }
            bytes[place] ^= 1 << UInt8(place & 7)
        }
        // A page that ends early is zero from there on.
        var isWhole = true
        for place in bytes.indices.reversed() {
            isWhole = isWhole && bytes[place] == 0
            bytes[place] = 0
            if !isWhole, accepts(bytes) { Issue.record("\(place) bytes of \(sample.name)") }
        }
    }

    @Test("With a good checksum they are refused or can be used", arguments: SamplePage.all)
    func forged(sample: SamplePage) {
        var random = SeededGenerator(seed: 1)
        let bytes = sample.content
        #expect(run(bytes))
        let isLong = sample.name == SamplePage.fullLeaf.name
        for _ in 0..<(isLong ? 30 : 400) {
            var forged = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                // Header and slots tell where things are, what they point to seldom matters.
                let limit = Int.random(in: 0..<4, using: &random) == 0 ? PageLayout.pageBytes : 120
                let place = Int.random(in: 8..<limit, using: &random)
                let old = forged[place]
                forged[place] =
                    [old ^ 1, old &+ 8, 0, UInt8.random(in: 0...255, using: &random)]
                    .randomElement(using: &random) ?? 0
            }
            run(forged)
        }
    }

    @Test("What would lead readers or writers outside is refused", arguments: Forgery.all)
    func refused(forgery: Forgery) {
        var bytes = forgery.sample.content
        #expect(run(bytes))
        forgery.forge(&bytes)
        #expect(!run(bytes), "\(forgery.name)")
    }

    @Test("The corpus of fuzz-page")
    func corpus() throws {
        let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let folder = tests.joined(separator: "/") + "/Fuzz/corpus/fuzz-page/"
        let files = RealFileSystem()
        let inputs = try files.list(folder).map { try files.readAll(folder + $0, atMost: 1 << 20) }
        #expect(inputs.count > 10)
        let accepted = inputs.filter(run)
        #expect(accepted.count > 10 && accepted.count < inputs.count)
    }

    private func accepts(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            // Never empty: a page has 4,096 bytes.
            (try? PageCheck.check(Page(bytes.baseAddress!), number: SamplePage.number)) != nil
        }
    }

    @discardableResult
    private func run(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { PageTrial.run($0) } }
}

/// One change to a good page.
struct Forgery: Sendable, CustomTestStringConvertible {
    let name: String
    let sample: SamplePage
    let forge: @Sendable (inout [UInt8]) -> Void
    var testDescription: String { name }

    private static func put(_ number: Int, _ byteCount: Int, at place: Int) -> @Sendable (inout [UInt8]) -> Void {
        { $0.replaceSubrange(place..<place + byteCount, with: bigEndian(number, byteCount: byteCount).reversed()) }
    }

    /// Of the leaf's entry, in its slot or at its place in the heap.
    private static let firstPlace = PageLayout.headerBytes + 4

    static let all: [Forgery] = [
        Forgery(name: "garbage that is not there", sample: .leaf, forge: put(200, 2, at: PageLayout.garbageBytes)),
        Forgery(name: "entries at the same place", sample: .leaf) { bytes in
            let slot = PageLayout.headerBytes + PageLayout.leafSlotBytes
            bytes.replaceSubrange(slot..<slot + 8, with: bytes[slot + 8..<slot + 16])
            bytes[PageLayout.count] -= 1
            bytes.replaceSubrange(slot + 8..<slot + 16, with: repeatElement(0, count: 8))
        },
        Forgery(name: "a kind of which nothing is checked, with entries", sample: .leaf) { $0[PageLayout.kind] = 3 },
        Forgery(name: "a level that no tree has", sample: .branch) { $0[PageLayout.level] = 64 },
        Forgery(name: "a short key whose head goes on", sample: .shortBranch) { bytes in
            bytes[PageLayout.headerBytes + PageLayout.branchSlotBytes] = 1
        },
        Forgery(name: "an overflow run behind the last page number", sample: .overflowLeaf) { bytes in
            let place = Int(bytes[firstPlace]) | Int(bytes[firstPlace + 1]) << 8
            put(0xFFFF_FFFF, 4, at: place + 3)(&bytes)
        },
        Forgery(name: "an overflow run at the header slots", sample: .overflowLeaf) { bytes in
            let place = Int(bytes[firstPlace]) | Int(bytes[firstPlace + 1]) << 8
            put(1, 4, at: place + 3)(&bytes)
        },
        Forgery(name: "a value in overflow pages that is short", sample: .overflowLeaf) { bytes in
            let place = Int(bytes[firstPlace]) | Int(bytes[firstPlace + 1]) << 8
            put(1_024, 4, at: place + 7)(&bytes)
        },
        Forgery(name: "a value of more than 1 GiB", sample: .overflowLeaf) { bytes in
            let place = Int(bytes[firstPlace]) | Int(bytes[firstPlace + 1]) << 8
            put(1 << 30 + 1, 4, at: place + 7)(&bytes)
        },
        Forgery(name: "an empty key", sample: .overflowLeaf) { bytes in
            let place = Int(bytes[firstPlace]) | Int(bytes[firstPlace + 1]) << 8
            bytes[PageLayout.garbageBytes] += 1
            bytes[firstPlace + 2] = 0
            bytes.replaceSubrange(PageLayout.headerBytes..<PageLayout.headerBytes + 4, with: [0, 0, 0, 0])
            bytes.replaceSubrange(place + 2..<place + 10, with: bytes[place + 3..<place + 11])
        },
    ]
}
