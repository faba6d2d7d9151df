/// Bytes from digits, with blanks wherever they help.
func hex(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }
    return stride(from: 0, to: digits.count, by: 2).compactMap { index in
        UInt8(digits.dropFirst(index).prefix(2), radix: 16)
    }
}

func hexText(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
}
