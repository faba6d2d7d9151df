extension String {
    /// Returns the text with blanks after it, up to a width in terminal columns. A longer text keeps `separation`
    /// blanks.
    func padded(to width: Int, separation: Int = 1) -> String {
        self + String(repeating: " ", count: max(separation, width - DisplayWidth.width(of: self)))
    }

    /// Returns the text with a filler before it, up to a number of characters. A longer text stays as it is.
    func leftPadded(to count: Int, with filler: Character = " ") -> String {
        String(repeating: filler, count: max(0, count - self.count)) + self
    }
}
