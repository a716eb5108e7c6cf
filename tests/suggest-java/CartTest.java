package shop;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Above each test stands what is suggested for it. */
class CartTest {
    private Cart cart = new Cart();

    // + assertEquals(0.7, cart.getTax());
    // + assertEquals(2, cart.count());
    // + assertEquals(7, cart.getTotal());
    @Test
    void adds() {
        cart.add("pen", 3);
        cart.add("ink \"blue\"", 4);
        assertTrue(cart != null);
    }

    // + assertEquals(0, cart.count());
    // + assertEquals("Elm \"1\"\t\u00e4", cart.getAddress().getStreet());
    // + assertEquals(7L, (long) cart.paidAt);
    // + assertEquals(Cart.State.PAID, cart.state());
    @Test void pays() { cart.pay("Elm \"1\"\tä"); }

    // What was total is checked; others are not.
    // + assertEquals(0.5, cart.getTax());
    // + assertEquals(1, cart.count());
    @Test
    void totals() {
        cart.add("cup", 5);
        assertTrue(cart.getTotal() == 5);
    }

    // + assertArrayEquals(new long[] {0L, 5L}, own.sums());
    // + assertEquals(0, cart.count());
    @Test
    void splits() {
        Cart own = new Cart();
        own.split(5);
    }

    // + assertEquals(0, cart.count());
    // + assertSame(cart, cart.getNext());
    @Test
    void follows() {
        cart.follow(cart);
    }

    // Hidden state has no observer.
    // + assertEquals(0, cart.count());
    @Test
    void hides() {
        cart.hide(8);
    }

    // It does not come to its end.
    @Test
    void leaves() {
        cart.add("pen", 3);
        if (cart != null) {
            return;
        }
        cart.add("pen", 3);
    }
}
