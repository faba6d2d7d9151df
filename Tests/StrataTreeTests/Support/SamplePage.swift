import StrataModel
import StrataSystem
import Testing

@testable import StrataTree

/// A good page of each kind.
struct SamplePage: Sendable, CustomTestStringConvertible {
    static let number: PageNumber = 5

    let name: String
    /// Without a checksum.
    let content: [UInt8]
    var testDescription: String { name }

    static let leaf = SamplePage("leaf", 0) { editor in
        for index in 0..<9 { add(editor, index, bytes(1 + index % 3, of: UInt8(16 * index)), bytes(90 * (index % 4))) }
        editor.remove(4)
    }
    static let fullLeaf = SamplePage("full leaf", 0, prefix: bytes(12)) { editor in
        for index in 0..<200 { add(editor, index, bigEndian(index, byteCount: 1 + index / 250), bytes(index % 9)) }
    }
    static let overflowLeaf = SamplePage("leaf with an overflow value", 0) { editor in
        [UInt8(7)].withUnsafeBytes { key in
            #expect(editor.insert(leaf: 0, suffix: key, .overflow(OverflowReference(first: 8, byteCount: 1_025))))
        }
    }
    static let branch = SamplePage("branch", 2, prefix: bytes(3)) { editor in
        for index in 0..<30 { addChild(editor, index, index == 0 ? [] : bytes(index % 11 + 1, of: UInt8(8 * index))) }
        editor.remove(7)
        editor.removeFirstChild()
    }
    static let shortBranch = SamplePage("branch with a short key", 1) { editor in
        addChild(editor, 0, [])
        addChild(editor, 1, [9, 9])
    }
    static let overflow = SamplePage("overflow", 0, kind: .overflow) { editor in
        (editor.base + PageLayout.headerBytes).storeBytes(of: 0xFFFF_FFFF, as: UInt32.self)
    }
    static let all = [leaf, fullLeaf, overflowLeaf, branch, shortBranch, overflow]

    private init(
        _ name: String, _ level: Int, prefix: [UInt8] = [], kind: PageKind? = nil, _ fill: (PageEditor) -> Void
    ) {
        self.name = name
        var bytes = [UInt8](repeating: 0, count: PageLayout.pageBytes)
        bytes.withUnsafeMutableBytes { bytes in
            // Never empty: a page has 4,096 bytes.
            let editor = PageEditor(bytes.baseAddress!)
            prefix.withUnsafeBytes {
                editor.start(
                    kind ?? (level == 0 ? .leaf : .branch), level: level, number: Self.number, birth: 3, prefix: $0)
            }
            fill(editor)
        }
        content = bytes
    }

    private static func add(_ editor: PageEditor, _ index: Int, _ suffix: [UInt8], _ value: [UInt8]) {
        suffix.withUnsafeBytes { suffix in
            value.withUnsafeBytes { #expect(editor.insert(leaf: index, suffix: suffix, .inline($0))) }
        }
    }

    private static func addChild(_ editor: PageEditor, _ index: Int, _ suffix: [UInt8]) {
        suffix.withUnsafeBytes { #expect(editor.insert(branch: index, suffix: $0, child: PageNumber(20 + index))) }
    }

    func sealed() -> [UInt8] {
        var sealed = content
        let sum = content.withUnsafeBytes { CRC32C.checksum($0.dropping(PageLayout.number)) }
        sealed.replaceSubrange(0..<4, with: bigEndian(Int(sum)).reversed())
        return sealed
    }
}
