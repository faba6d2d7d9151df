import StrataModel

/// Looks for a part of a text, with or without case and accents.
struct TextSearch {
    private let part: [UInt8]
    private let options: TextFolding.Options
    private let isCaseInsensitive: Bool

    init(_ part: String, _ options: TextFolding.Options) {
        self.part = Array(TextFolding.fold(part, options).utf8)
        self.options = options
        isCaseInsensitive = options.contains(.caseInsensitive)
    }

    func finds(_ text: UnsafeRawBufferPointer) -> Bool {
        if part.isEmpty { return true }
        if options.isEmpty || Self.isASCII(text) {
            return part.withUnsafeBytes { Self.contains(text, $0, ignoringCase: isCaseInsensitive) }
        }
        let folded = Array(TextFolding.fold(String(decoding: text, as: UTF8.self), options).utf8)
        return folded.withUnsafeBytes { folded in
            part.withUnsafeBytes { Self.contains(folded, $0, ignoringCase: false) }
        }
    }

    private static func isASCII(_ text: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place + 8 <= text.count {
            let eight = text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            if eight & 0x8080_8080_8080_8080 != 0 { return false }
            place += 8
        }
        while place < text.count {
            if text[place] >= 0x80 { return false }
            place += 1
        }
        return true
    }

    /// - Parameter part: not empty, and in small letters where case is ignored.
    private static func contains(
        _ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer, ignoringCase: Bool
    ) -> Bool {
        guard text.count >= part.count else { return false }
        let first = part[0]
        let other = ignoringCase && first &- 0x61 < 26 ? first & ~0x20 : first
        let last = text.count - part.count
        // Not nil: both hold a byte at least, and every index below is less than their counts.
        let (start, wanted) = (text.baseAddress!, part.baseAddress!)
        func byte(_ pointer: UnsafeRawPointer, _ place: Int) -> UInt8 {
            pointer.load(fromByteOffset: place, as: UInt8.self)
        }
        var place = 0
        while place <= last {
            let candidate = byte(start, place)
            if candidate == first || candidate == other {
                var same = 1
                while same < part.count {
                    let next = byte(start, place + same)
                    let folded = ignoringCase ? TextFolding.lowercase(next) : next
                    if folded != byte(wanted, same) { break }
                    same += 1
                }
                if same == part.count { return true }
            }
            place += 1
        }
        return false
    }
}
