/// The number of terminal columns that text occupies.
enum DisplayWidth {
    static func width(of text: some Sequence<Character>) -> Int { text.reduce(0) { $0 + width(of: $1) } }

    static func width(of character: Character) -> Int {
        var width = 0
        for scalar in character.unicodeScalars {
            // This variation selector requests the wide emoji form of the character before it.
            if scalar.value == 0xFE0F { return 2 }
            width = max(width, Self.width(of: scalar))
        }
        return width
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// Ranges of characters that take two columns: Hangul, CJK, Kana, Yi, their compatibility and full-width forms.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x20000...0x3FFFD,
    ]
}
