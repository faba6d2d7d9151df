import StrataModel
import Testing

@testable import StrataTree

/// Keys, values and pages of exactly the sizes where something changes.
@Suite("Sizes of keys, values and pages")
struct SizeLimitTests {
    @Test("Keys of 1 to 960 bytes are taken; empty and longer ones are refused and change nothing")
    func keys() throws {
        var tree = try TwinTree()
        for count in [1, 2, 3, 4, 5, 959, 960] { try tree.put(bytes(count), bytes(count)) }
        for count in [0, 961, 5_000] {
            let error = #expect(throws: StrataError.self) { try tree.fork.put(TwinTree.id, bytes(count), []) }
            #expect(error?.code == .outOfRange)
            #expect(try tree.fork.value(TwinTree.id, bytes(count)) == nil)
            #expect(try !tree.fork.delete(TwinTree.id, bytes(count)))
        }
        try tree.publishAndCheck()
    }

    @Test("Values of every size around a limit, in order and over one another")
    func values() throws {
        let sizes = [0, 1, 63, 64, 65, 1_023, 1_024, 1_025, 4_063, 4_064, 4_065, 8_128, 8_129, 1 << 20]
        var tree = try TwinTree()
        for size in sizes { try tree.put(bigEndian(size), bytes(size, of: 1)) }
        try tree.publishAndCheck()
        for old in sizes {
            for new in sizes where old != new {
                try tree.put([9], bytes(old, of: 2))
                try tree.put([9], bytes(new, of: 3))
            }
            try tree.publishAndCheck("over \(old) bytes")
        }
        for size in sizes { try tree.put(bigEndian(size), bytes(1)) }
        try tree.deleteRange(from: [9], to: nil)
        try tree.publishAndCheck()
        #expect(tree.shape.leaves == 1)
    }

    @Test("A value of more than 1 GiB is refused", .enabled(if: MemoryLayout<Int>.size == 8))
    func longestValue() throws {
        let tree = try TwinTree()
        // Never looked at, so that it need not be there.
        let length = PageLayout.maximumValueBytes + 1
        let value = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: 4_096), count: length)
        let error = #expect(throws: StrataError.self) {
            try [UInt8(1)].withUnsafeBytes { try tree.fork.put(TwinTree.id, $0, value) }
        }
        #expect(error?.code == .outOfRange)
    }

    @Test("A leaf is filled to its last byte, and one byte more splits it", arguments: [0, 1])
    func fullLeaf(excess: Int) throws {
        var tree = try TwinTree()
        // An entry has 10 bytes for slot and length, and a byte of key.
        let room = PageLayout.pageBytes - PageLayout.headerBytes
        let count = room / (11 + 64)
        for key in 0..<count { try tree.put([UInt8(key)], bytes(64)) }
        try tree.put([UInt8(count)], bytes(room - count * (11 + 64) - 11 + excess))
        try tree.publishAndCheck()
        #expect(tree.shape.leaves == 1 + excess)
        if excess == 0 { #expect(tree.shape.leafBytes == PageLayout.pageBytes) }
    }

    @Test("Three entries of the largest size share a leaf")
    func largestEntries() throws {
        var tree = try TwinTree()
        for first in [UInt8(2), 1, 3, 0, 9] { try tree.put([first] + bytes(959), bytes(64, of: first)) }
        try tree.publishAndCheck()
        try tree.put([1] + bytes(959), bytes(65))
        try tree.publishAndCheck()
        for first in [UInt8(2), 1, 3, 0, 9] { try tree.delete([first] + bytes(959)) }
        try tree.publishAndCheck()
        #expect(tree.shape.height == 0)
    }

    @Test("A full leaf gains room by what was taken out, without a split")
    func tidied() throws {
        var tree = try TwinTree()
        for key in 0..<54 { try tree.put([UInt8(key)], bytes(64)) }
        for key in stride(from: 0, to: 54, by: 2) { try tree.delete([UInt8(key)]) }
        for key in stride(from: 0, to: 54, by: 4) { try tree.put([UInt8(key)], bytes(64, of: 2)) }
        try tree.publishAndCheck()
        #expect(tree.shape.leaves == 1)
    }

    @Test("Values grow and shrink in place until their leaf splits, and come back")
    func growing() throws {
        var tree = try TwinTree()
        for size in [0, 10, 62, 63, 64, 100, 300, 900, 1_024, 1_025, 30, 0, 500, 1] {
            for key in 0..<20 { try tree.put(bigEndian(key, byteCount: 2), bytes(size + key % 2)) }
            try tree.publishAndCheck("\(size) bytes")
        }
    }
}
