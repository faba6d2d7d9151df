import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("The file of keys (docs/format.md §23)")
struct KeyBookTests {
    private let book: KeyBook = {
        var book = KeyBook()
        _ = book.add([UInt8](repeating: 7, count: 32), of: "anna")
        _ = book.add([UInt8](repeating: 8, count: 32), of: "berta")
        _ = book.destroyKeys([1])
        _ = book.add([UInt8](repeating: 9, count: 32), of: "anna")
        return book
    }()

    @Test("What was written is read, byte for byte as the page says")
    func bytes() throws {
        #expect(try KeyBook(decoding: book.encoded(), path: "keys") == book)
        #expect(book.current(of: "anna")?.id == 3 && book.entry(1)?.key == nil && book.nextID == 4)
        let key = [UInt8](repeating: 8, count: 32)
        let expected =
            [UInt8]("StrataKy".utf8) + [1, 0, 0, 0] + book.encoded()[12..<16] + [4, 3]
            + [1, 2, 4] + [UInt8]("anna".utf8) + [2, 1, 5] + [UInt8]("berta".utf8) + key
            + [3, 1, 4] + [UInt8]("anna".utf8) + [UInt8](repeating: 9, count: 32)
        #expect(book.encoded() == expected)
    }

    @Test("A retired key stays in the file, is nobody's current one, and is destroyed with the others that are named")
    func retired() throws {
        var book = book
        #expect(book.retireKey(of: "anna") && !book.retireKey(of: "anna") && !book.retireKey(of: "carla"))
        #expect(book.current(of: "anna") == nil && book.retired(of: "anna") == [3] && book.retired(of: "berta") == [])
        #expect(book.former == [1, 3])
        let encoded = book.encoded()
        #expect(encoded.suffix(39).prefix(3) == [3, 3, 4])
        var read = try KeyBook(decoding: encoded, path: "keys")
        #expect(read == book && read.entry(3)?.key != nil)
        #expect(read.add([UInt8](repeating: 1, count: 32), of: "anna").id == 4)
        #expect(read.retired(of: "anna") == [3] && read.current(of: "anna")?.id == 4)
        #expect(read.destroyKeys([1, 3, 7]) && !read.destroyKeys([3]))
        #expect(read.entry(3)?.key == nil && read.current(of: "anna")?.id == 4 && read.retired(of: "anna") == [])
        #expect(try KeyBook(decoding: read.encoded(), path: "keys") == read)
    }

    @Test("Users are told apart by their bytes, not by what they look like")
    func users() {
        var book = KeyBook()
        _ = book.add([UInt8](repeating: 7, count: 32), of: "\u{e9}")
        #expect(book.current(of: "e\u{301}") == nil && book.current(of: "\u{e9}") != nil)
    }

    @Test("Every flipped bit and every missing byte is noticed")
    func damage() {
        let whole = book.encoded()
        for position in whole.indices {
            for bit in 0..<8 {
                var bytes = whole
                bytes[position] ^= 1 << UInt8(bit)
                let expected: StrataError.Code = position < 8 ? .wrongMagic : .badChecksum
                #expect(thrownCode { _ = try KeyBook(decoding: bytes, path: "keys") } == expected, "\(position)")
            }
            let cut = Array(whole[..<position])
            #expect(thrownCode { _ = try KeyBook(decoding: cut, path: "keys") } != nil, "\(position)")
        }
    }

    private func checked(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes.replaceSubrange(12..<16, with: [0, 0, 0, 0])
        let sum = bytes.withUnsafeBytes { CRC32C.checksum($0) }
        withUnsafeBytes(of: sum.littleEndian) { bytes.replaceSubrange(12..<16, with: $0) }
        return bytes
    }

    @Test("Behind a checksum that fits: another version, impossible ids and kinds have errors of their own")
    func impossible() {
        func code(_ position: Int, _ byte: UInt8) -> StrataError.Code? {
            var bytes = book.encoded()
            bytes[position] = byte
            return thrownCode { _ = try KeyBook(decoding: checked(bytes), path: "keys") }
        }
        #expect(thrownCode { _ = try KeyBook(decoding: checked(book.encoded()), path: "keys") } == nil)
        #expect(code(8, 2) == .newerFormat)
        for (position, byte) in [(16, 3), (17, 4), (18, 9), (19, 3)] as [(Int, UInt8)] {
            #expect(code(position, byte) == .malformed, "\(position)")
        }
    }
}
