public let below4 = 4
