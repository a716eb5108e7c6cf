import java.util.*;
/** Strings and what makes them. */
public class Strings {
    public static void main(String[] args) {
        StringBuilder b = new StringBuilder(); for (int i = 0; i < 5; i++) b.append(i).append(',').append(i * 0.5).append(i % 2 == 0).append((Object) null).append('x').append(7L).append(1.5f).append(new char[] {'o', 'k'});
        b.insert(3, "insert").deleteCharAt(0).setCharAt(1, 'Z'); b.reverse(); b.setLength(30); System.out.println(b + " " + b.length() + " " + b.indexOf("k") + b.charAt(2));
        String s = "  Hello, World  "; System.out.println(s.trim() + "|" + s.strip() + "|" + s.isBlank() + s.toUpperCase() + s.toLowerCase() + s.indexOf("o") + s.lastIndexOf('o') + s.contains("World") + s.startsWith("  H") + s.endsWith("x") + s.replace('l', 'L') + s.replace("World", "there") + s.length() + s.charAt(4) + s.hashCode());
        System.out.println("a,b,,c,".split(",").length + Arrays.toString("a1b22c".split("[0-9]+")) + String.join("-", "x", "y", "z") + "ab".repeat(3) + "abc".compareTo("abd") + "b".compareTo("abc") + "ABC".equalsIgnoreCase("abc") + "x".equals(null) + "".isEmpty() + "abc".substring(1) + "abcdef".substring(2, 4));
        System.out.println("grüße €uro 日本 \ud83d\ude00 \t tab".toUpperCase() + " " + "日本".length() + " " + "\ud83d\ude00".codePointAt(0) + " " + "日本語".charAt(1) + "ß".toUpperCase() + "İ".toLowerCase().length());
        System.out.println(String.valueOf(3.0) + String.valueOf(true) + String.valueOf('c') + String.valueOf((Object) null) + Integer.valueOf(127).equals(127) + Character.isDigit('5') + Character.isLetter('ä') + Character.toUpperCase('q') + Character.getNumericValue('7') + (int) 'A' + (char) 98);
        System.out.println(String.format("%5d|%-6s|%x|%.2f|%08.3f|%,d|%e|%b|%c|%%|%s|%10s|%+d|%o|%S", 42, "ab", 255, 3.14159, -2.5, 1234567, 12345.678, true, 'z', List.of(1, 2), null, 5, 8, "up"));
        System.out.printf("%s has %d items%n", "list", 3); System.out.println("x=%d".formatted(4)); char[] chars = "sorted".toCharArray(); Arrays.sort(chars); System.out.println(new String(chars) + chars.length); System.out.println(chars);
        System.out.println("lines\nof\ntext".lines().count() + " " + "a-b-c".chars().filter(c -> c == '-').count() + "hello".chars().mapToObj(c -> "" + (char) c).toList());
        String a = "in" + "tern", c = new String("intern"); System.out.println((a == "intern") + " " + (a == c) + " " + (a == c.intern()) + " " + a.equals(c)); final String k = "key"; switch (k + args.length) { case "key0" -> System.out.println("no arguments"); case "key1" -> System.out.println("one"); default -> System.out.println("many"); }
        String text = """
            A text
              block "quoted" \
            joined
            """; System.out.print(text); StringBuilder unicode = new StringBuilder("abc"); unicode.append("\u20ac").append(1).insert(0, 'ü'); System.out.println(unicode + "" + unicode.length());
        System.out.println(new StringTokenizer("a b  c").countTokens() + " " + "Mississippi".replaceAll("ss(.)", "<$1>") + "abc".matches("[a-c]+") + " " + "one two".matches("\\w+") + Integer.toHexString(-1) + Long.toString(-255, 16) + Integer.parseInt("7f", 16) + Double.valueOf("2.50") + Boolean.parseBoolean("TRUE") + Objects.toString(null, "default"));
        StringJoiner j = new StringJoiner(", ", "{", "}"); j.add("a").add("b"); System.out.println(j); int h = 0; for (char ch : "hash".toCharArray()) h = 31 * h + ch; System.out.println(h == "hash".hashCode()); System.out.println("%".length() + 'a' + "b" + 'c' + 1 + 2L + 3f + 4d + null + true);
    }
}
